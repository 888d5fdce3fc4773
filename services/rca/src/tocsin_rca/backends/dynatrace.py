"""Dynatrace: which problems it found and their root causes, logs, and how a metric went."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_kit.clock import millis
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

_MOST_ENTITIES = 20
_WHO = ("k8s.pod.name", "dt.entity.service", "host.name", "log.source")

LogQuery = Annotated[
    str, Field(max_length=1000, description="Which lines, as logs are searched; empty for all.")
]
Selector = Annotated[
    str,
    Field(
        min_length=3,
        max_length=1000,
        description="What is measured, such as builtin:service.errors.server.rate.",
    ),
]


class DynatraceOptions(BackendOptions):
    """A Dynatrace environment; its token's scopes are problems.read, logs.read, metrics.read."""

    type: Literal["dynatrace"]

    def credentials(self, read: Read) -> Mapping[str, str]:
        """Return the token as it is taken there."""
        return {"Authorization": f"Api-Token {read(self.token)}"} if self.token else {}

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = DynatraceTools(client, self.page)
        return (told.problems, told.logs, told.metrics)


class _Entity(BaseModel):
    name: str = ""


class _Problem(BaseModel):
    id: str = Field(alias="problemId")
    shown_as: str = Field(default="", alias="displayId")
    title: str
    severity: str = Field(default="", alias="severityLevel")
    impact: str = Field(default="", alias="impactLevel")
    status: str = ""
    started: Whole = Field(alias="startTime")
    ended: Whole = Field(default=-1, alias="endTime")
    affected: list[_Entity] = Field(default=[], alias="affectedEntities")
    cause: _Entity | None = Field(default=None, alias="rootCauseEntity")


class _Problems(BaseModel):
    total: int = Field(alias="totalCount")
    problems: list[_Problem]


class _Log(BaseModel):
    timestamp: Whole
    content: str = ""
    columns: dict[str, list[str]] = Field(default={}, alias="additionalColumns")


class _Logs(BaseModel):
    size: int = Field(alias="sliceSize")
    results: list[_Log] = []


class _Data(BaseModel):
    dimensions: list[str] = []
    timestamps: list[Whole]
    values: list[float | None]


class _Metric(BaseModel):
    id: str = Field(alias="metricId")
    data: list[_Data] = []


class _Metrics(BaseModel):
    result: list[_Metric]


class Problem(Brief):
    """A problem that Dynatrace put together; `root_cause` is its opinion."""

    id: str
    title: str
    status: str
    severity: str = ""
    impact: str = ""
    since: AwareDatetime
    until: AwareDatetime | None = None
    affected: tuple[str, ...] = ()
    root_cause: str = ""
    link: str = ""


class Problems(Told):
    """Problems of a time, those that began last first."""

    problems: tuple[Problem, ...] = ()


class DynatraceTools:
    """One method a tool."""

    def __init__(self, client: Client, page: str) -> None:
        self._client = client
        self._page = page

    async def problems(
        self, until: Until = None, minutes: Minutes = 120, limit: Limit = 20
    ) -> Problems:
        """Show the problems of a time, with what they affect and what is taken for their cause."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "from": millis(start),
            "to": millis(end),
            "pageSize": limit,
            "sort": "-startTime",
        }
        found = await self._client.get(_Problems, "/api/v2/problems", asked)
        open_ = sum(one.status == "OPEN" for one in found.problems)
        return Problems(
            said=f"{counted(found.total, 'problem')}, {open_} of those shown still open.",
            link=f"{self._page}/#problems",
            left_out=max(0, found.total - len(found.problems)) or None,
            problems=tuple(self._problem(one) for one in found.problems[:limit]),
        )

    async def logs(
        self, query: LogQuery = "", until: Until = None, minutes: Minutes = 30, shapes: Shapes = 20
    ) -> Logs:
        """Show what was written in a time; lines that differ only in numbers are counted as one."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "query": query,
            "from": millis(start),
            "to": millis(end),
            "limit": MOST_READ,
            "sort": "-timestamp",
        }
        found = (await self._client.get(_Logs, "/api/v2/logs/search", asked)).results
        return logs([_line(one) for one in found], shapes, link=f"{self._page}/ui/logs")

    async def metrics(
        self, selector: Selector, until: Until = None, minutes: Minutes = 60
    ) -> Measured:
        """Show how a metric went in a time: for each series the last, the least and the most."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "metricSelector": selector,
            "from": millis(start),
            "to": millis(end),
        }
        answer = await self._client.get(_Metrics, "/api/v2/metrics/query", asked)
        series = (
            (" ".join([metric.id, *one.dimensions]), _points(one))
            for metric in answer.result
            for one in metric.data
        )
        return measured(series, f"{self._page}/ui/data-explorer")

    def _problem(self, one: _Problem) -> Problem:
        return Problem(
            id=line(one.shown_as or one.id),
            title=line(one.title, 200),
            status=line(one.status),
            severity=line(one.severity),
            impact=line(one.impact),
            since=moment(one.started / 1000),
            until=moment(one.ended / 1000) if one.ended > 0 else None,
            affected=tuple(line(entity.name) for entity in one.affected[:_MOST_ENTITIES]),
            root_cause=line(one.cause.name) if one.cause else "",
            link=f"{self._page}/#problems/problemdetails;pid={line(one.id)}",
        )


def _line(log: _Log) -> LogLine:
    who = (log.columns[name][0] for name in _WHO if log.columns.get(name))
    return LogLine(moment(log.timestamp / 1000), log.content, next(who, ""))


def _points(data: _Data) -> list[Point]:
    return [(at / 1000, value) for at, value in zip(data.timestamps, data.values, strict=False)]
