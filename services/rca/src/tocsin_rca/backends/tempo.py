"""Tempo: traces that TraceQL finds, and where the time of one of them went."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line
from tocsin_rca.backends import spans
from tocsin_rca.backends.answers import Limit, Minutes, Until, Whole, moment, window
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.explore import explore
from tocsin_rca.backends.options import BackendOptions
from tocsin_rca.backends.spans import Span, Trace, TraceRow, Traces

_MOST_TRACES = 100

Query = Annotated[
    str,
    Field(
        min_length=2,
        max_length=2000,
        pattern=r"^\s*\{",
        description='Which traces, in TraceQL, such as {resource.service.name="cart" && '
        "status=error}.",
    ),
]
TraceId = Annotated[
    str, Field(pattern=r"^[0-9a-fA-F]{1,32}$", description="The id of one trace, in hex.")
]


class TempoOptions(BackendOptions):
    """A Tempo, or what speaks its API; `headers` has a place for `X-Scope-OrgID`."""

    type: Literal["tempo"]
    datasource: str = Field(
        default="", description="Its id in the Grafana of `page_url`; then answers link there."
    )

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = TempoTools(client, self)
        return (told.traces, told.trace)


class _Found(BaseModel):
    id: str = Field(alias="traceID")
    service: str = Field(default="", alias="rootServiceName")
    name: str = Field(default="", alias="rootTraceName")
    start: str = Field(default="0", alias="startTimeUnixNano")
    ms: Whole = Field(default=0, alias="durationMs")


class _Answer(BaseModel):
    traces: list[_Found] = []
    metrics: dict[str, Any]


class _Text(BaseModel):
    text: str = Field(default="", alias="stringValue")


class _Attribute(BaseModel):
    key: str
    value: _Text = _Text()


class _Resource(BaseModel):
    attributes: list[_Attribute] = []


class _Status(BaseModel):
    code: str | int = ""
    message: str = ""


class _Span(BaseModel):
    id: str = Field(alias="spanId")
    parent: str = Field(default="", alias="parentSpanId")
    name: str
    start: Whole = Field(alias="startTimeUnixNano")
    end: Whole = Field(alias="endTimeUnixNano")
    status: _Status = _Status()


class _Scope(BaseModel):
    spans: list[_Span] = []


class _Batch(BaseModel):
    resource: _Resource = _Resource()
    scopes: list[_Scope] = Field(default=[], alias="scopeSpans")


class _Trace(BaseModel):
    batches: list[_Batch]


class TempoTools:
    """One method a tool."""

    def __init__(self, client: Client, options: TempoOptions) -> None:
        self._client = client
        self._options = options

    async def traces(
        self, query: Query, until: Until = None, minutes: Minutes = 30, limit: Limit = 10
    ) -> Traces:
        """Show traces in a time, the slowest first; ask for status=error for those that failed."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "q": query,
            "start": int(start.timestamp()),
            "end": int(end.timestamp()),
            "limit": _MOST_TRACES,
        }
        found = (await self._client.get(_Answer, "/api/search", asked)).traces
        shown = {"query": query, "queryType": "traceql"}
        return spans.traces(map(_row, found), limit, explore(self._options, shown, start, end))

    async def trace(self, trace: TraceId) -> Trace:
        """Show one trace: what failed in it, and in which service its time went."""
        found = await self._client.get(_Trace, f"/api/traces{at(trace)}")
        every = [span for batch in found.batches for span in _spans(batch)]
        if not every:
            raise PermanentError(f"trace {trace!r} has no spans; look for another one")
        first = moment(spans.root(every).start)
        shown = {"query": trace, "queryType": "traceql"}
        return spans.trace(every, explore(self._options, shown, first, first))


def _row(found: _Found) -> TraceRow:
    return TraceRow(
        id=line(found.id),
        service=line(found.service),
        operation=line(found.name),
        at=moment(f"{found.start}e-9"),
        ms=found.ms,
    )


def _spans(batch: _Batch) -> Iterator[Span]:
    names = {one.key: one.value.text for one in batch.resource.attributes}
    for span in (one for scope in batch.scopes for one in scope.spans):
        yield Span(
            id=span.id,
            parent=span.parent,
            service=names.get("service.name", ""),
            operation=span.name,
            start=span.start / 1_000_000_000,
            ms=(span.end - span.start) / 1_000_000,
            failed=span.status.code in ("STATUS_CODE_ERROR", 2),
            error=span.status.message,
        )
