"""Loki: what programs wrote, asked in LogQL, and which labels there are to ask by."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Minutes, Told, Until, counted, moment, window
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.explore import explore
from tocsin_rca.backends.log_lines import MOST_READ, LogLine, Logs, Shapes, logs
from tocsin_rca.backends.options import BackendOptions

_MOST_VALUES = 100
_WHO = ("pod", "container", "app", "service_name", "job", "instance")

Query = Annotated[
    str,
    Field(
        min_length=3,
        max_length=2000,
        pattern=r"^\s*\{",
        description='Which lines, in LogQL, such as {namespace="shop"} |= "error"; no numbers.',
    ),
]
Label = Annotated[
    str,
    Field(
        pattern=r"^([a-zA-Z_][a-zA-Z0-9_]{0,100})?$",
        description="A label whose values are wanted; empty for the labels themselves.",
    ),
]


class LokiOptions(BackendOptions):
    """A Loki, or what speaks its API; `headers` has a place for `X-Scope-OrgID`."""

    type: Literal["loki"]
    datasource: str = Field(
        default="", description="Its id in the Grafana of `page_url`; then answers link there."
    )

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = LokiTools(client, self)
        return (told.logs, told.labels)


class _Stream(BaseModel):
    stream: dict[str, str]
    values: list[tuple[str, str] | tuple[str, str, Any]]


class _Data(BaseModel):
    kind: Literal["streams"] = Field(alias="resultType")
    result: list[_Stream]


class _Answer(BaseModel):
    status: Literal["success"]
    data: _Data


class _Names(BaseModel):
    status: Literal["success"]
    data: list[str] = []


class Labels(Told):
    """Names of labels, or values of one."""

    names: tuple[str, ...] = ()


class LokiTools:
    """One method a tool."""

    def __init__(self, client: Client, options: LokiOptions) -> None:
        self._client = client
        self._options = options

    async def logs(
        self, query: Query, until: Until = None, minutes: Minutes = 30, shapes: Shapes = 20
    ) -> Logs:
        """Show what was written in a time; lines that differ only in numbers are counted as one."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "query": query,
            "start": _nanoseconds(start),
            "end": _nanoseconds(end),
            "limit": MOST_READ,
            "direction": "backward",
        }
        answer = await self._client.get(_Answer, "/loki/api/v1/query_range", asked)
        lines = [one for stream in answer.data.result for one in _lines(stream)]
        link = explore(self._options, {"expr": query}, start, end)
        return logs(lines, shapes, link=link)

    async def labels(self, label: Label = "", until: Until = None, minutes: Minutes = 60) -> Labels:
        """Show which labels lines have, or which values one label has, to ask for logs by."""
        start, end = window(until, minutes, self._client.clock.now())
        path = f"/loki/api/v1/label{at(label)}/values" if label else "/loki/api/v1/labels"
        asked = {"start": _nanoseconds(start), "end": _nanoseconds(end)}
        found = (await self._client.get(_Names, path, asked)).data
        what = (f"value of {label}", f"values of {label}") if label else ("label", "labels")
        return Labels(
            said=f"{counted(len(found), *what)}.",
            left_out=max(0, len(found) - _MOST_VALUES) or None,
            names=tuple(line(one) for one in found[:_MOST_VALUES]),
        )


def _lines(stream: _Stream) -> list[LogLine]:
    who = _writer(stream.stream)
    return [LogLine(moment(f"{one[0]}e-9"), one[1], who) for one in stream.values]


def _writer(labels: Mapping[str, str]) -> str:
    return next((labels[name] for name in _WHO if labels.get(name)), "")


def _nanoseconds(moment: datetime) -> str:
    return str(int(moment.timestamp() * 1000) * 1_000_000)
