"""Traces in few words, whichever server kept them: what failed, and where the time went."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import AwareDatetime

from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief, Told, counted, moment

MOST_SPANS = 20
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work; `start` is in seconds since 1970, `error` says why it failed."""

    id: str
    parent: str
    service: str
    operation: str
    start: float
    ms: float
    failed: bool = False
    error: str = ""


class SpanRow(Brief):
    """A span; `self_ms` is what it took without those that it waited for."""

    service: str
    operation: str
    at: AwareDatetime
    ms: float
    self_ms: float | None = None
    failed: bool | None = None
    error: str = ""


class TraceRow(Brief):
    """A trace in a list, by its first span; `failed` counts its spans, where that is known."""

    id: str
    service: str
    operation: str
    at: AwareDatetime
    ms: float
    spans: int | None = None
    failed: int | None = None
    error: str = ""
    link: str = ""


class Traces(Told):
    """Traces that were found, those that failed first, then the slowest."""

    traces: tuple[TraceRow, ...] = ()


class Trace(Told):
    """One trace: where its time went by service, what failed, and the slowest spans."""

    self_ms_by_service: dict[str, float]
    failed: tuple[SpanRow, ...] = ()
    slowest: tuple[SpanRow, ...] = ()


def traces(found: Iterable[TraceRow], limit: int, link: str) -> Traces:
    """Return what was found, which may be a sample of what there is."""
    rows = sorted(found, key=lambda one: (not one.failed, -one.ms))
    known = [bool(one.failed) for one in rows if one.failed is not None]
    failed = f", {sum(known)} of them with errors" if known else ""
    slowest = max((one.ms for one in rows), default=0)
    return Traces(
        said=f"{counted(len(rows), 'trace')}{failed}; the slowest took {slowest:g} ms."
        if rows
        else "No trace was found.",
        link=link,
        left_out=max(0, len(rows) - limit) or None,
        traces=tuple(rows[:limit]),
    )


def listed(name: str, spans: Sequence[Span], link: str) -> TraceRow:
    """Return a trace of which all spans are known, and at least one."""
    first = root(spans)
    failed = [one for one in spans if one.failed]
    last = max(failed, key=lambda one: one.start, default=None)
    return TraceRow(
        id=line(name),
        service=line(first.service),
        operation=line(first.operation),
        at=moment(first.start),
        ms=round(first.ms, 2),
        spans=len(spans),
        failed=len(failed),
        error=line(f"{last.service}: {last.error or last.operation}", _LONGEST) if last else "",
        link=link,
    )


def root(spans: Sequence[Span]) -> Span:
    """Return the span that no other one of the trace is the parent of; the first, if several."""
    known = {one.id for one in spans}
    return min(spans, key=lambda one: (one.parent in known, one.start))


def trace(spans: Sequence[Span], link: str) -> Trace:
    """Return what a trace tells, which has at least one span."""
    own = _own_ms(spans)
    failed = [one for one in spans if one.failed]
    spent = _by_service(spans, own)
    first = root(spans)
    slowest = sorted(spans, key=lambda one: -own[one.id])[:MOST_SPANS]
    return Trace(
        said=f"{line(first.service)} {line(first.operation)!r} took {first.ms:g} ms in "
        f"{counted(len(spans), 'span')}, {len(failed)} of them failed; most of it in "
        f"{spent[0][0]} ({spent[0][1]:g} ms).",
        link=link,
        left_out=max(0, len(spans) - MOST_SPANS) or None,
        self_ms_by_service={name: round(ms, 2) for name, ms in spent[:MOST_SPANS]},
        failed=tuple(_row(one, own) for one in failed[-MOST_SPANS:]),
        slowest=tuple(_row(one, own) for one in slowest if own[one.id] > 0),
    )


def _own_ms(spans: Sequence[Span]) -> dict[str, float]:
    """Return what each span took beside those that it began, by its id."""
    waited: dict[str, float] = {}
    for one in spans:
        waited[one.parent] = waited.get(one.parent, 0) + one.ms
    return {one.id: max(0.0, one.ms - waited.get(one.id, 0)) for one in spans}


def _by_service(spans: Sequence[Span], own: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return each service with its own milliseconds, the slowest first."""
    spent: dict[str, float] = {}
    for one in spans:
        service = line(one.service)
        spent[service] = spent.get(service, 0) + own[one.id]
    return sorted(spent.items(), key=lambda pair: -pair[1])


def _row(span: Span, own: Mapping[str, float]) -> SpanRow:
    return SpanRow(
        service=line(span.service),
        operation=line(span.operation),
        at=moment(span.start),
        ms=round(span.ms, 2),
        self_ms=round(own[span.id], 2),
        failed=span.failed or None,
        error=line(span.error, _LONGEST),
    )
