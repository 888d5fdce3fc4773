"""`tocsin investigate`: what rca makes of one alert and a recorded cluster, and nothing else."""

import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
import yaml

from tocsin_cli import reading
from tocsin_cli.answering import answer
from tocsin_cli.demo.git import git
from tocsin_cli.errors import UsageError

_OTHER_CLUSTERS = ("TOCSIN_CLUSTER_", "TOCSIN_MCP_")


class Format(StrEnum):
    """How the report is written."""

    TERMINAL = "terminal"
    JSON = "json"
    MARKDOWN = "markdown"


def investigate(
    snapshot: Annotated[
        Path, typer.Option(exists=True, file_okay=False, help="Bundle of a recorded cluster.")
    ],
    alert: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="Body of a sender, or one alert.")
    ],
    repo: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Git repository that describes it."),
    ] = None,
    source: Annotated[str, typer.Option(help="Whose body it is.")] = "alertmanager",
    form: Annotated[Format, typer.Option("--format")] = Format.TERMINAL,
) -> None:
    """Look at one alert by itself and print what was found, why, and what could not be seen."""
    if repo is None and not any(path.is_file() for path in snapshot.rglob("*")):
        raise UsageError(f"{str(snapshot)!r} holds no file; docs/bundles.md says what a bundle is")
    chosen = reading.alert(alert, source, _read).model_dump_json()
    with tempfile.TemporaryDirectory(prefix="tocsin-") as folder:
        gitops = Path(folder) / "gitops.yaml"
        rules = {"repositories": [_rule(repo)] if repo else []}
        gitops.write_text(yaml.safe_dump(rules), encoding="utf-8")
        options = ("--alert", "-", "--format", form.value)
        flags = ("--cluster-snapshot", str(snapshot.absolute()), "--gitops-file", str(gitops))
        typer.echo(
            _answer("rca", "investigate", *options, *flags, stdin=chosen),
            nl=False,
        )


def _rule(repo: Path) -> dict[str, object]:
    inside = repo / ".git"
    git_dir = (inside if inside.is_dir() else repo).absolute()
    branch = git(git_dir, "symbolic-ref", "--short", "HEAD").strip()
    return {"name": repo.absolute().name, "git_dir": str(git_dir), "branch": branch, "paths": []}


def _read(source: str, body: str) -> str:
    return _answer("ingest", "read", "--source", source, "-", stdin=body)


def _answer(service: str, *arguments: str, stdin: str) -> str:
    """Return what a service makes of it, without the clusters that it would look at otherwise."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OTHER_CLUSTERS)}
    return answer(service, *arguments, environment=kept, stdin=stdin)
