"""`tocsin investigate`: what rca makes of one alert and a recorded cluster, and nothing else."""

import json
import os
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console

from tocsin_cli.answering import answer
from tocsin_cli.demo.git import git
from tocsin_cli.errors import UsageError
from tocsin_cli.terminal import show
from tocsin_contracts import Alert, AlertStatus
from tocsin_kit.errors import PermanentError

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
    chosen = _chosen(_alerts(alert, source), alert).model_dump_json()
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


def _alerts(file: Path, source: str) -> list[Alert]:
    try:
        told = _answer("ingest", "read", "--source", source, "-", stdin=_body(file))
    except UsageError:
        raise
    except PermanentError as error:
        raise PermanentError(f"{str(file)!r}: {error}; --source says who sent it") from error
    return [Alert.model_validate_json(line) for line in told.splitlines()]


def _chosen(alerts: Sequence[Alert], file: Path) -> Alert:
    """Return the first one that fires, or else the first; what a reader may miss is told."""
    if not alerts:
        raise PermanentError(f"{str(file)!r} holds no alert")
    firing = [one for one in alerts if one.status is AlertStatus.FIRING]
    chosen, aside = (firing or alerts)[0], Console(stderr=True)
    if len(alerts) > 1:
        show(aside, f"note: {file} holds {len(alerts)} alerts; this is about one of them")
    if not firing:
        show(aside, "note: the alert is resolved; what is looked at may be healthy again")
    return chosen


def _body(file: Path) -> str:
    """Return the body; one alert alone is taken for that of a notification."""
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        payload = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{str(file)!r} is no JSON: {error}") from error
    is_one = isinstance(payload, dict) and "labels" in payload and "alerts" not in payload
    return json.dumps({"version": "4", "alerts": [payload]}) if is_one else text


def _rule(repo: Path) -> dict[str, object]:
    inside = repo / ".git"
    git_dir = (inside if inside.is_dir() else repo).absolute()
    branch = git(git_dir, "symbolic-ref", "--short", "HEAD").strip()
    return {"name": repo.absolute().name, "git_dir": str(git_dir), "branch": branch, "paths": []}


def _answer(service: str, *arguments: str, stdin: str) -> str:
    """Return what a service makes of it, without the clusters that it would look at otherwise."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OTHER_CLUSTERS)}
    return answer(service, *arguments, environment=kept, stdin=stdin)
