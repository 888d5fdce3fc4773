"""`tocsin token`: the tokens of this machine's Tocsin, for scripts."""

from enum import StrEnum
from typing import Annotated

import typer

from tocsin_cli.commands.options import Data
from tocsin_cli.workspace import DEFAULT, Workspace


class Door(StrEnum):
    """What a token opens."""

    INGEST = "ingest"
    API = "api"


def token(
    door: Annotated[Door, typer.Argument(help="ingest: send alerts; api: look and decide.")],
    data: Data = DEFAULT,
) -> None:
    """Print a token of this machine's Tocsin."""
    tokens = Workspace(data).tokens()
    typer.echo(tokens.ingest_token if door is Door.INGEST else tokens.api_token)
