"""Datadog: which monitors are alerting, what was logged, and how a metric went."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal
from urllib.parse import urlencode

from pydantic import AwareDatetime, BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_kit.clock import millis
from tocsin_kit.errors import PermanentError
from tocsin_kit.secret_refs import SecretRef
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import (
    Brief,
    Limit,
    Minutes,
    Told,
    Until,
    Whole,
    counted,
    moment,
    window,
)
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.log_lines import MOST_READ, LogLine, Logs, Shapes, logs
from tocsin_rca.backends.numbers import Measured, Point, measured
from tocsin_rca.backends.options import BackendOptions, Read

_MOST_TAGS = 20

MonitorQuery = Annotated[
    str,
    Field(max_length=500, description="Which monitors, as their page is searched."),
]
LogQuery = Annotated[
    str, Field(min_length=1, max_length=1000, description="Which lines, as logs are searched.")
]
MetricQuery = Annotated[
    str,
    Field(
        min_length=3,
        max_length=1000,
        description="What is measured, such as avg:kubernetes.cpu.usage.total{kube_namespace:shop} "
        "by {pod_name}.",
    ),
]


class DatadogOptions(BackendOptions):
    """A Datadog organization; `token` is its API key. `url` tells its site."""

    usual_url = "https://api.datadoghq.com"

    type: Literal["datadog"]
    token: SecretRef = Field(description="Where the API key is kept.")
    app_key: SecretRef = Field(
        description="Where an application key is kept; its scopes may be `logs_read_data`, "
        "`monitors_read` and `timeseries_query`."
    )

    @property
    def page(self) -> str:
        """Where people open it."""
        return (self.page_url or self.base.replace("://api.", "://app.")).rstrip("/")

    def credentials(self, read: Read) -> Mapping[str, str]:
        """Return both keys."""
        return {"DD-API-KEY": read(self.token), "DD-APPLICATION-KEY": read(self.app_key)}

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = DatadogTools(client, self.page)
        return (told.monitors, told.logs, told.metrics)


class _Monitor(BaseModel):
    id: int
    name: str
    status: str = ""
    query: str = ""
    tags: list[str] = []
    triggered: Whole | None = Field(default=None, alias="last_triggered_ts")


class _Metadata(BaseModel):
    total: int = Field(alias="total_count")


class _Monitors(BaseModel):
    monitors: list[_Monitor]
    metadata: _Metadata


class _Attributes(BaseModel):
    timestamp: AwareDatetime
    message: str = ""
    service: str = ""
    host: str = ""


class _Log(BaseModel):
    attributes: _Attributes


class _Meta(BaseModel):
    status: str = ""


class _Logs(BaseModel):
    data: list[_Log] = []
    meta: _Meta


class _Series(BaseModel):
    expression: str = ""
    metric: str = ""
    scope: str = ""
    points: list[tuple[float, float | None]] = Field(default=[], alias="pointlist")


class _Metrics(BaseModel):
    status: str
    error: str = ""
    series: list[_Series] = []


class Monitor(Brief):
    """A monitor, and since when it is as it is."""

    id: int
    name: str
    status: str
    since: AwareDatetime | None = None
    query: str = ""
    tags: tuple[str, ...] = ()
    link: str = ""


class Monitors(Told):
    """Monitors that were found."""

    monitors: tuple[Monitor, ...] = ()


class DatadogTools:
    """One method a tool."""

    def __init__(self, client: Client, page: str) -> None:
        self._client = client
        self._page = page

    async def monitors(
        self, query: MonitorQuery = "status:(alert OR warn)", limit: Limit = 20
    ) -> Monitors:
        """Show which monitors alert or warn, or others that a search finds."""
        asked: Params = {"query": query, "per_page": limit}
        found = await self._client.get(_Monitors, "/api/v1/monitor/search", asked)
        rows = found.monitors[:limit]
        return Monitors(
            said=f"{counted(found.metadata.total, 'monitor')}.",
            link=f"{self._page}/monitors/manage?{urlencode({'q': query})}",
            left_out=max(0, found.metadata.total - len(rows)) or None,
            monitors=tuple(self._monitor(one) for one in rows),
        )

    async def logs(
        self, query: LogQuery, until: Until = None, minutes: Minutes = 30, shapes: Shapes = 20
    ) -> Logs:
        """Show what was written in a time; lines that differ only in numbers are counted as one."""
        start, end = window(until, minutes, self._client.clock.now())
        body = {
            "filter": {"query": query, "from": start.isoformat(), "to": end.isoformat()},
            "sort": "-timestamp",
            "page": {"limit": MOST_READ},
        }
        found = (await self._client.search(_Logs, "/api/v2/logs/events/search", body)).data
        lines = [
            LogLine(one.timestamp, one.message, one.service or one.host)
            for one in (log.attributes for log in found)
        ]
        shown = {"query": query, "from_ts": millis(start), "to_ts": millis(end)}
        return logs(lines, shapes, link=f"{self._page}/logs?{urlencode(shown)}")

    async def metrics(
        self, query: MetricQuery, until: Until = None, minutes: Minutes = 60
    ) -> Measured:
        """Show how a metric went in a time: for each series the last, the least and the most."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "query": query,
            "from": int(start.timestamp()),
            "to": int(end.timestamp()),
        }
        answer = await self._client.get(_Metrics, "/api/v1/query", asked)
        if answer.status != "ok":
            raise PermanentError(f"{self._client.name}: it says: {line(answer.error, 300)}")
        shown = {"exp_query": query, "start": millis(start), "end": millis(end)}
        return measured(
            ((one.scope or one.expression or one.metric, _seconds(one)) for one in answer.series),
            f"{self._page}/metric/explorer?{urlencode(shown)}",
        )

    def _monitor(self, one: _Monitor) -> Monitor:
        return Monitor(
            id=one.id,
            name=line(one.name, 200),
            status=line(one.status),
            since=moment(one.triggered) if one.triggered else None,
            query=line(one.query, 300),
            tags=tuple(line(tag) for tag in one.tags[:_MOST_TAGS]),
            link=f"{self._page}/monitors/{one.id}",
        )


def _seconds(series: _Series) -> list[Point]:
    return [(at / 1000, value) for at, value in series.points]
