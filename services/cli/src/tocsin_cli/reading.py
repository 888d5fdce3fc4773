"""Read the one alert that a command is about, from the body in which a sender wrote it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from tocsin_cli.errors import UsageError
from tocsin_cli.terminal import show
from tocsin_contracts import Alert, AlertStatus
from tocsin_kit.errors import PermanentError

Ingest = Callable[[str, str], str]
"""What ingest prints for a source and a body."""


def alert(file: Path, source: str, ingest: Ingest) -> Alert:
    """Return the first one that fires, or else the first; what a reader may miss is told."""
    return _chosen(_alerts(file, source, ingest), file)


def _alerts(file: Path, source: str, ingest: Ingest) -> list[Alert]:
    try:
        told = ingest(source, _body(file))
    except UsageError:
        raise
    except PermanentError as error:
        raise PermanentError(f"{str(file)!r}: {error}; --source says who sent it") from error
    return [Alert.model_validate_json(line) for line in told.splitlines()]


def _chosen(alerts: Sequence[Alert], file: Path) -> Alert:
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
