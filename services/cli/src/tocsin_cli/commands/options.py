"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder of the running Tocsin.")]
GatewayUrl = Annotated[
    str | None,
    typer.Option("--gateway-url", help="Ask this gateway. Default: TOCSIN_GATEWAY_URL, then DIR."),
]
Token = Annotated[
    str | None,
    typer.Option("--token", help="Token for it. Default: TOCSIN_API_TOKEN, then the one in DIR."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]
