"""The page of events: what each says, who publishes it, who reads it, where it moves a run."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Any, get_args

from pydantic.fields import FieldInfo

from reference import NOTE, cell
from tocsin_contracts import EVENTS, LIVE_EVENTS, LIVE_PREFIX, Event, LiveEvent, RunFinished
from tocsin_kit import approval_told, intake, parked, rating, reruns
from tocsin_kit.topology import READS

KIT_PUBLISHERS = {
    intake: "ingest",
    approval_told: "gateway",
    parked: "gateway",
    rating: "gateway",
    reruns: "gateway",
}
"""Where the kit makes an event itself, and the one service that calls it."""

HEAD = f"""\
{NOTE}

# Events

Every fact that the services tell each other. An event of run `r1` is published on
`tocsin.<topic>.r1`: `tocsin.*.*.*.r1` follows one run, `tocsin.>` everything. The bus keeps facts
for 30 days and drops a second one with the same id. A change that would break a reader is a new
class with the next version; the schemas are in [libs/contracts/schemas](../libs/contracts/schemas),
and [asyncapi.json](asyncapi.json) holds every consumer with its durable.

A run also ends with `RunFinished` when a service that moves runs (ingest, rca, validation, action)
gives up on one of its messages.
"""

LIVE = f"""\
## What is told live

While a model works on a run, rca tells who listens what it does, on core NATS:
`{LIVE_PREFIX}.r1.>` follows run `r1`. It is no fact: no stream keeps it, and a bus that is away or
slow is spared it. Known secrets and what looks like one are masked, texts are short, and the words
of an answer come together, ten times a second at most.
"""


def page(services: Path) -> str:
    """Return the whole page; `services` is where the code of the publishers is."""
    published = _publishers(services)
    rows = [_row(event, published[event]) for event in EVENTS]
    table = ["| event | topic | from | read by | run is then |", "|---|---|---|---|---|", *rows]
    sections = [_section(event) for event in EVENTS]
    live = [_live(event) for event in LIVE_EVENTS]
    return "\n".join([HEAD, *table, "", _common(), *sections, LIVE, _live_common(), *live])


def _publishers(services: Path) -> Mapping[type[Event], list[str]]:
    """Return who makes each event; one that nobody makes is an error of this script."""
    names = {event.__name__: event for event in EVENTS}
    made: dict[type[Event], set[str]] = {event: set() for event in EVENTS}
    for module in services.glob("*/src/**/*.py"):
        for name in _calls(module.read_text(encoding="utf-8")) & names.keys():
            made[names[name]].add(module.relative_to(services).parts[0])
    for kit, service in KIT_PUBLISHERS.items():
        for name in vars(kit).keys() & names.keys():
            made[names[name]].add(service)
    unknown = [event.__name__ for event, by in made.items() if not by]
    if unknown:
        raise LookupError(f"nobody publishes {', '.join(unknown)}; see KIT_PUBLISHERS")
    return {event: sorted(by) for event, by in made.items()}


def _calls(source: str) -> set[str]:
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return {called.id for called in calls if isinstance(called, ast.Name)}


def _row(event: type[Event], publishers: list[str]) -> str:
    readers = ", ".join(service for service, read in READS if read is event) or "-"
    moves = (
        "its outcome" if event is RunFinished else event.moves_to.value if event.moves_to else ""
    )
    link = f"[{event.__name__}](#{event.__name__.lower()})"
    return f"| {link} | `{event.topic}` | {', '.join(publishers)} | {readers} | {moves or '-'} |"


def _common() -> str:
    fields = "\n".join(_fields(Event.model_fields))
    return f"## What every event carries\n\n{_TABLE}\n{fields}\n"


def _live_common() -> str:
    return "\n".join(["Each carries:\n", _TABLE, *_fields(LiveEvent.model_fields), ""])


def _live(event: type[LiveEvent]) -> str:
    own = {n: one for n, one in event.model_fields.items() if n not in LiveEvent.model_fields}
    text = f"`{LIVE_PREFIX}.<run_id>.{event.kind}`: {inspect.getdoc(event) or ''}"
    return "\n".join([f"### {event.__name__}\n\n{text}\n", _TABLE, *_fields(own), ""])


_TABLE = "| field | type | default | |\n|---|---|---|---|"


def _section(event: type[Event]) -> str:
    own = {n: field for n, field in event.model_fields.items() if n not in Event.model_fields}
    schema = f"[schema](../libs/contracts/schemas/{event.topic}.json)"
    text = inspect.getdoc(event) or ""
    return "\n".join([f"## {event.__name__}\n\n{text}\n", _TABLE, *_fields(own), "", schema, ""])


def _fields(fields: Mapping[str, FieldInfo]) -> Iterator[str]:
    for name, field in fields.items():
        default = "" if field.is_required() else _default(field)
        about = cell(field.description or "")
        yield f"| `{name}` | {_type(field.annotation)} | {default} | {about} |"


def _default(field: FieldInfo) -> str:
    return "now" if field.default_factory else f"`{field.default!r}`"


def _type(annotation: Any) -> str:
    inner = [_type(one) for one in get_args(annotation) if one is not Ellipsis]
    if isinstance(annotation, UnionType):
        return " or ".join(inner)
    if isinstance(annotation, GenericAlias):
        return f"{annotation.__origin__.__name__} of {' to '.join(inner)}"
    return "nothing" if annotation is type(None) else getattr(annotation, "__name__", "value")
