"""Grafana: which dashboards there are, what their panels ask, and what was noted on them when."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.clock import millis
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import (
    MOST_ROWS,
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
from tocsin_rca.backends.options import BackendOptions

_LONGEST = 400
_MOST_QUERIES = 5

Search = Annotated[str, Field(max_length=200, description="A part of the title; empty for all.")]
Uid = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$", description="The uid of the dashboard.")
]
Tags = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=100)], ...],
    Field(max_length=10, description="Tags that all have to be there, such as deploy."),
]


class GrafanaOptions(BackendOptions):
    """A Grafana; a token of a service account that may only view is enough."""

    type: Literal["grafana"]

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = GrafanaTools(client, self.page)
        return (told.annotations, told.dashboards, told.dashboard)


class _Hit(BaseModel):
    uid: str
    title: str
    url: str = ""
    folder: str = Field(default="", alias="folderTitle")
    tags: list[str] = []


class _Annotation(BaseModel):
    time: Whole
    end: Whole = Field(default=0, alias="timeEnd")
    text: str = ""
    tags: list[str] = []
    dashboard: str | None = Field(default="", alias="dashboardUID")
    state: str | None = Field(default="", alias="newState")


class _Panel(BaseModel):
    title: str = ""
    type: str = ""
    targets: list[dict[str, Any]] = []
    panels: list["_Panel"] = []


class _Board(BaseModel):
    title: str
    panels: list[_Panel] = []


class _Meta(BaseModel):
    url: str = ""


class _Found(BaseModel):
    dashboard: _Board
    meta: _Meta = _Meta()


class Dashboard(Brief):
    """A dashboard in a list."""

    uid: str
    title: str
    folder: str = ""
    tags: tuple[str, ...] = ()
    link: str = ""


class Dashboards(Told):
    """Dashboards that were found."""

    dashboards: tuple[Dashboard, ...] = ()


class Panel(Brief):
    """What one panel shows, and the queries that it asks its source."""

    title: str
    type: str = ""
    queries: tuple[str, ...] = ()


class Panels(Told):
    """The panels of one dashboard."""

    panels: tuple[Panel, ...] = ()


class Annotation(Brief):
    """What was noted about a moment, or about a time that ended at `until`."""

    at: AwareDatetime
    until: AwareDatetime | None = None
    text: str = ""
    tags: tuple[str, ...] = ()
    state: str = ""
    dashboard: str = ""


class Annotations(Told):
    """Annotations, the newest first."""

    annotations: tuple[Annotation, ...] = ()


class GrafanaTools:
    """One method a tool."""

    def __init__(self, client: Client, page: str) -> None:
        self._client = client
        self._page = page

    async def annotations(
        self, tags: Tags = (), until: Until = None, minutes: Minutes = 180, limit: Limit = 20
    ) -> Annotations:
        """Show what was noted in a time: releases, alerts that changed, what people wrote."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {"from": millis(start), "to": millis(end), "limit": 100, "tags": tags}
        found = await self._client.get(list[_Annotation], "/api/annotations", asked)
        found.sort(key=lambda one: -one.time)
        return Annotations(
            said=f"{counted(len(found), 'annotation')} in {counted(minutes, 'minute')}.",
            link=f"{self._page}/dashboards",
            left_out=max(0, len(found) - limit) or None,
            annotations=tuple(_annotation(one) for one in found[:limit]),
        )

    async def dashboards(self, search: Search = "", limit: Limit = 20) -> Dashboards:
        """List the dashboards whose title has a text in it."""
        asked: Params = {"type": "dash-db", "query": search, "limit": 500}
        found = await self._client.get(list[_Hit], "/api/search", asked)
        return Dashboards(
            said=f"{counted(len(found), 'dashboard')}.",
            link=f"{self._page}/dashboards",
            left_out=max(0, len(found) - limit) or None,
            dashboards=tuple(self._dashboard(one) for one in found[:limit]),
        )

    async def dashboard(self, uid: Uid) -> Panels:
        """Show the panels of a dashboard with their queries, to ask the same of the source."""
        found = await self._client.get(_Found, f"/api/dashboards/uid{at(uid)}")
        every = list(_panels(found.dashboard.panels))
        return Panels(
            said=f"{line(found.dashboard.title)!r} has {counted(len(every), 'panel')}.",
            link=self._link(found.meta.url),
            left_out=max(0, len(every) - MOST_ROWS) or None,
            panels=tuple(every[:MOST_ROWS]),
        )

    def _dashboard(self, hit: _Hit) -> Dashboard:
        return Dashboard(
            uid=line(hit.uid),
            title=line(hit.title),
            folder=line(hit.folder),
            tags=tuple(map(line, hit.tags)),
            link=self._link(hit.url),
        )

    def _link(self, path: str) -> str:
        """Return the page of a path that Grafana answers, which has no host of its own."""
        _, found, rest = line(path, 300).partition("/d/")
        return f"{self._page}/d/{rest}" if found else f"{self._page}/dashboards"


def _annotation(one: _Annotation) -> Annotation:
    return Annotation(
        at=moment(one.time / 1000),
        until=moment(one.end / 1000) if one.end > one.time else None,
        text=line(one.text, _LONGEST),
        tags=tuple(map(line, one.tags)),
        state=line(one.state or ""),
        dashboard=line(one.dashboard or ""),
    )


def _panels(listed: Sequence[_Panel]) -> Iterator[Panel]:
    """Yield panels, also those that a row holds."""
    for one in listed:
        if one.type != "row":
            asked = (target.get("expr") or target.get("query") for target in one.targets)
            queries = [line(text, _LONGEST) for text in asked if isinstance(text, str) and text]
            yield Panel(
                title=line(one.title), type=line(one.type), queries=tuple(queries[:_MOST_QUERIES])
            )
        yield from _panels(one.panels)
