"""`tocsin resolve`: which repository and path the object of an alert comes from, and why."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tocsin_cli import reading
from tocsin_cli.answering import answer

_OTHER_CLUSTERS = ("TOCSIN_CLUSTER_", "TOCSIN_MCP_")


def resolve(
    alert: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Body of a sender, or one alert.")
    ],
    *,
    gitops: Annotated[
        Path,
        typer.Option(
            envvar="TOCSIN_GITOPS_FILE",
            exists=True,
            dir_okay=False,
            help="The gitops.yaml that allows repositories.",
        ),
    ] = Path("gitops.yaml"),
    snapshot: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            help="Bundle of a recorded cluster, instead of the clusters of the settings.",
        ),
    ] = None,
    source: Annotated[str, typer.Option(help="Whose body it is.")] = "alertmanager",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say where the object of an alert is declared, who says so, and what else was asked."""
    environment = {k: v for k, v in os.environ.items() if not _is_replaced(k, snapshot)}

    def ingest(sender: str, body: str) -> str:
        words = ("read", "--source", sender, "-")
        return answer("ingest", *words, environment=environment, stdin=body)

    about = reading.alert(alert, source, ingest).model_dump_json()
    flags = ["--gitops-file", str(gitops.absolute())]
    if snapshot:
        flags += ["--cluster-snapshot", str(snapshot.absolute())]
    form = ["--json"] if as_json else []
    words = ("resolve", "--alert", "-", *form, *flags)
    typer.echo(answer("validation", *words, environment=environment, stdin=about), nl=False)


def _is_replaced(variable: str, snapshot: Path | None) -> bool:
    return snapshot is not None and variable.startswith(_OTHER_CLUSTERS)
