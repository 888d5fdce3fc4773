"""`tocsin doctor`: how everything is that Tocsin needs, and what to do about it."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import RootModel, TypeAdapter, ValidationError
from rich.console import Console
from rich.text import Text

from tocsin_cli import settings
from tocsin_cli.answering import answer, is_installed
from tocsin_cli.commands.options import Data, Json
from tocsin_cli.settings import Settings
from tocsin_cli.terminal import one_line, show
from tocsin_cli.workspace import DEFAULT, Workspace
from tocsin_contracts.doctor import Condition, Finding
from tocsin_kit import examining
from tocsin_kit.errors import PermanentError, TocsinError

_MARKS = {
    Condition.OK: ("ok", "green"),
    Condition.WARNING: ("warning", "yellow"),
    Condition.PROBLEM: ("PROBLEM", "bold red"),
    Condition.UNKNOWN: ("unknown", "yellow"),
}
_Findings = TypeAdapter(tuple[Finding, ...])


class Part(StrEnum):
    """What can be looked at alone."""

    BUS = "bus"
    STORE = "store"
    MODEL = "model"
    FORGE = "forge"
    SLACK = "slack"


def doctor(
    part: Annotated[
        Part | None, typer.Argument(help="Only this; without it everything that is set up.")
    ] = None,
    *,
    no_model: Annotated[bool, typer.Option("--no-model", help="Do not ask a model.")] = False,
    notifier_url: Annotated[
        str,
        typer.Option("--notifier-url", help="Where the notifier listens, if not where it is set."),
    ] = "",
    as_json: Json = False,
    data: Data = DEFAULT,
) -> None:
    """Look at bus, store, models, forges and Slack; nothing is changed.

    It reads the settings that the services read. Exit code 1 if there is a problem.
    """
    environment = dict(os.environ)
    words = {
        Part.MODEL: ("rca", ["--no-model"] if no_model else []),
        Part.FORGE: ("action", _gitops(environment, data)),
        Part.SLACK: ("notifier", ["--at", notifier_url] if notifier_url else []),
    }
    looks: dict[Part, Callable[[], Iterable[Finding]]] = {
        Part.BUS: lambda: _bus(data),
        Part.STORE: lambda: _store(data),
        Part.MODEL: lambda: _asked(Part.MODEL, *words[Part.MODEL], environment),
        Part.FORGE: lambda: _asked(Part.FORGE, *words[Part.FORGE], environment),
        Part.SLACK: lambda: _asked(Part.SLACK, *words[Part.SLACK], environment),
    }
    chosen = [part] if part else [one for one in Part if _is_set_up(one, environment)]
    found = [finding for one in chosen for finding in looks[one]()]
    if as_json:
        typer.echo(RootModel(tuple(found)).model_dump_json(indent=2))
    else:
        show(Console(), *(line(one) for one in found))
    if any(one.condition is Condition.PROBLEM for one in found):
        raise typer.Exit(1)


def line(finding: Finding) -> Text:
    """Return a finding on one line, and what to do about it on the next."""
    mark, style = _MARKS[finding.condition]
    text = Text(f"{mark:<8}", style)
    text.append(
        f" {finding.part:<6} {one_line(finding.thing)}: {one_line(finding.told)}", "default"
    )
    if finding.do and finding.condition is not Condition.OK:
        text.append(f"\n{'':<16}{one_line(finding.do)}", "dim")
    return text


def _bus(data: Path) -> list[Finding]:
    known = Settings.load()
    url = settings.bus(known, Workspace(data))
    return asyncio.run(examining.bus(url, known.ack_wait))


def _store(data: Path) -> list[Finding]:
    return asyncio.run(examining.run_store(settings.store(Settings.load(), Workspace(data))))


def _asked(
    part: Part, service: str, words: Sequence[str], environment: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return what a service says of its part; one that cannot say is unknown."""
    if not is_installed(service):
        told, do = f"{service} is not installed here", "run this where it is"
        return (_unknown(part, told, do),)
    try:
        return _Findings.validate_json(answer(service, "doctor", *words, environment=environment))
    except ValidationError as error:
        return (_unknown(part, f"{service} answered something else: {error}", "update it"),)
    except PermanentError as error:
        problem = {"condition": Condition.PROBLEM, "do": f"see docs/settings.md#{service}"}
        return (_unknown(part, str(error), "").model_copy(update=problem),)
    except TocsinError as error:
        return (_unknown(part, str(error), "try again"),)


def _unknown(part: Part, told: str, do: str) -> Finding:
    return Finding(part=part.value, thing="settings", condition=Condition.UNKNOWN, told=told, do=do)


def _gitops(environment: Mapping[str, str], data: Path) -> list[str]:
    """Return the flag for the gitops.yaml of the folder, where no other is named."""
    here = data / "gitops.yaml"
    named = "TOCSIN_GITOPS_FILE" in environment or not here.is_file()
    return [] if named else ["--gitops-file", str(here)]


def _is_set_up(part: Part, environment: Mapping[str, str]) -> bool:
    return part is not Part.SLACK or "TOCSIN_SLACK_BOT_TOKEN" in environment
