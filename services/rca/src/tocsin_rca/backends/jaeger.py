"""Jaeger: which traces of a service failed or were slow, and where their time went."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.clock import millis
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line
from tocsin_rca.backends import spans
from tocsin_rca.backends.answers import (
    MOST_ROWS,
    Limit,
    Minutes,
    Told,
    Until,
    Whole,
    counted,
    window,
)
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.options import BackendOptions
from tocsin_rca.backends.spans import Span, Trace, Traces

_MOST_TRACES = 100

Service = Annotated[str, Field(min_length=1, max_length=200, description="The service's name.")]
Failed = Annotated[bool, Field(description="Whether only traces with an error are wanted.")]
SlowerThan = Annotated[
    int, Field(ge=0, le=3_600_000, description="Milliseconds that a trace took at least.")
]
TraceId = Annotated[
    str, Field(pattern=r"^[0-9a-fA-F]{1,32}$", description="The id of one trace, in hex.")
]


class JaegerOptions(BackendOptions):
    """The query service of a Jaeger."""

    type: Literal["jaeger"]

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = JaegerTools(client, self.page)
        return (told.traces, told.trace, told.services)


class _Tag(BaseModel):
    key: str
    value: Any = None


class _Log(BaseModel):
    fields: list[_Tag] = []


class _Reference(BaseModel):
    kind: str = Field(alias="refType")
    span: str = Field(alias="spanID")


class _Span(BaseModel):
    id: str = Field(alias="spanID")
    operation: str = Field(alias="operationName")
    references: list[_Reference] = []
    start: Whole = Field(alias="startTime")
    duration: Whole
    tags: list[_Tag] = []
    logs: list[_Log] = []
    process: str = Field(alias="processID")


class _Process(BaseModel):
    service: str = Field(alias="serviceName")


class _Trace(BaseModel):
    id: str = Field(alias="traceID")
    spans: list[_Span]
    processes: dict[str, _Process]


class _Traces(BaseModel):
    data: list[_Trace]


class _Services(BaseModel):
    data: list[str] | None


class Services(Told):
    """Names of services that sent traces."""

    services: tuple[str, ...] = ()


class JaegerTools:
    """One method a tool."""

    def __init__(self, client: Client, page: str) -> None:
        self._client = client
        self._page = page

    async def traces(
        self,
        service: Service,
        until: Until = None,
        minutes: Minutes = 30,
        limit: Limit = 10,
        *,
        failed: Failed = False,
        slower_than: SlowerThan = 0,
    ) -> Traces:
        """Show traces of a service in a time: those with errors first, then the slowest."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "service": service,
            "start": millis(start) * 1000,
            "end": millis(end) * 1000,
            "limit": _MOST_TRACES,
            **({"tags": json.dumps({"error": "true"})} if failed else {}),
            **({"minDuration": f"{slower_than}ms"} if slower_than else {}),
        }
        found = (await self._client.get(_Traces, "/api/traces", asked)).data
        rows = [
            spans.listed(one.id, told, self._link(one.id)) for one in found if (told := _spans(one))
        ]
        return spans.traces(rows, limit, f"{self._page}/search")

    async def trace(self, trace: TraceId) -> Trace:
        """Show one trace: what failed in it, and in which service its time went."""
        found = (await self._client.get(_Traces, f"/api/traces{at(trace)}")).data
        every = [span for one in found for span in _spans(one)]
        if not every:
            raise PermanentError(f"trace {trace!r} has no spans; look for another one")
        return spans.trace(every, self._link(trace))

    async def services(self) -> Services:
        """List the services that sent traces."""
        found = sorted((await self._client.get(_Services, "/api/services")).data or [])
        return Services(
            said=f"{counted(len(found), 'service')}.",
            link=f"{self._page}/search",
            left_out=max(0, len(found) - 2 * MOST_ROWS) or None,
            services=tuple(line(one) for one in found[: 2 * MOST_ROWS]),
        )

    def _link(self, trace: str) -> str:
        return f"{self._page}/trace/{line(trace, 32)}"


def _spans(trace: _Trace) -> list[Span]:
    return [_span(one, trace) for one in trace.spans]


def _span(span: _Span, trace: _Trace) -> Span:
    tags = {tag.key: tag.value for tag in span.tags}
    process = trace.processes.get(span.process)
    parents = [one.span for one in span.references if one.kind == "CHILD_OF"]
    return Span(
        id=span.id,
        parent=parents[0] if parents else "",
        service=process.service if process else "",
        operation=span.operation,
        start=span.start / 1_000_000,
        ms=span.duration / 1000,
        failed=str(tags.get("error", "")).lower() == "true",
        error=_why(span, str(tags.get("otel.status_description", ""))),
    )


def _why(span: _Span, described: str) -> str:
    """Return what a span says of its error: its status, or what an exception was logged with."""
    logged = {tag.key: tag.value for log in span.logs for tag in log.fields}
    return described or str(logged.get("exception.message") or logged.get("message") or "")
