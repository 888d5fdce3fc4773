"""Sentry: which errors programs reported, and where in their code the latest one was raised."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief, Limit, Minutes, Told, Until, counted, window
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.options import BackendOptions

_LONGEST = 400
_MOST_FRAMES = 15
_MOST_TAGS = 20

Query = Annotated[
    str,
    Field(
        max_length=500,
        description="What is searched for, as in Sentry's own search, such as project:shop "
        "is:unresolved.",
    ),
]
IssueId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]{1,60}$", description="The number of the issue.")
]


class SentryOptions(BackendOptions):
    """A Sentry; its token needs `org:read` and `event:read`, and no more."""

    usual_url = "https://sentry.io"

    type: Literal["sentry"]
    organization: str = Field(
        pattern=r"^[a-z0-9_-]{1,60}$", description="The organization, as addresses spell it."
    )

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = SentryTools(client, self)
        return (told.issues, told.issue)


class _Project(BaseModel):
    slug: str = ""


class _Issue(BaseModel):
    id: str
    title: str
    culprit: str = ""
    level: str = ""
    count: int = 0
    users: int = Field(default=0, alias="userCount")
    first: AwareDatetime = Field(alias="firstSeen")
    last: AwareDatetime = Field(alias="lastSeen")
    project: _Project = _Project()


class _Tag(BaseModel):
    key: str
    value: str | None = ""


class _Frame(BaseModel):
    file: str | None = Field(default="", alias="filename")
    function: str | None = ""
    line: int | None = Field(default=None, alias="lineNo")
    own: bool | None = Field(default=False, alias="inApp")


class _Stack(BaseModel):
    frames: list[_Frame] | None = []


class _Exception(BaseModel):
    type: str | None = ""
    value: str | None = ""
    stack: _Stack | None = Field(default=None, alias="stacktrace")


class _Exceptions(BaseModel):
    values: list[_Exception]


class _Entry(BaseModel):
    type: str
    data: Annotated[_Exceptions | Any, Field(union_mode="left_to_right")] = None


class _Event(BaseModel):
    id: str = Field(alias="eventID")
    title: str = ""
    created: AwareDatetime = Field(alias="dateCreated")
    tags: list[_Tag] = []
    entries: list[_Entry] = []


class Issue(Brief):
    """Errors that Sentry takes for the same one; `first` tells whether it is new."""

    id: str
    title: str
    where: str = ""
    level: str = ""
    project: str = ""
    count: int
    users: int
    first: AwareDatetime
    last: AwareDatetime


class Issues(Told):
    """Issues, the most frequent first."""

    issues: tuple[Issue, ...] = ()


class LatestEvent(Told):
    """The latest error of an issue: its exceptions and the frames of its own code, inner last."""

    at: AwareDatetime
    tags: dict[str, str]
    exceptions: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


class SentryTools:
    """One method a tool."""

    def __init__(self, client: Client, options: SentryOptions) -> None:
        self._client = client
        self._api = f"/api/0/organizations{at(options.organization)}/issues/"
        self._page = f"{options.page}/organizations{at(options.organization)}/issues/"

    async def issues(
        self,
        query: Query = "is:unresolved",
        until: Until = None,
        minutes: Minutes = 60,
        limit: Limit = 20,
    ) -> Issues:
        """Show which errors were reported in a time, the most frequent first."""
        start, end = window(until, minutes, self._client.clock.now())
        asked: Params = {
            "query": query,
            "start": _plain(start),
            "end": _plain(end),
            "sort": "freq",
            "limit": 100,
            "project": "-1",
        }
        found = await self._client.get(list[_Issue], self._api, asked)
        fresh = sum(one.first >= start for one in found)
        return Issues(
            said=f"{counted(len(found), 'issue')}, {fresh} of them seen for the first time.",
            link=self._page,
            left_out=max(0, len(found) - limit) or None,
            issues=tuple(_issue(one) for one in found[:limit]),
        )

    async def issue(self, issue: IssueId) -> LatestEvent:
        """Show the latest error of an issue: its release, its tags, and where it was raised."""
        event = await self._client.get(_Event, f"{self._api}{issue}/events/latest/")
        raised = list(_raised(event))
        frames = [frame for one in raised if one.stack for frame in one.stack.frames or ()]
        own = [frame for frame in frames if frame.own] or frames
        return LatestEvent(
            said=f"The latest error: {line(event.title, _LONGEST)}.",
            link=f"{self._page}{issue}/",
            at=event.created,
            tags={line(tag.key): line(tag.value or "") for tag in event.tags[:_MOST_TAGS]},
            exceptions=tuple(line(f"{one.type}: {one.value}", _LONGEST) for one in raised[:5]),
            frames=tuple(line(f"{f.file}:{f.line} {f.function}") for f in own[-_MOST_FRAMES:]),
        )


def _issue(issue: _Issue) -> Issue:
    return Issue(
        id=line(issue.id),
        title=line(issue.title, _LONGEST),
        where=line(issue.culprit),
        level=line(issue.level),
        project=line(issue.project.slug),
        count=issue.count,
        users=issue.users,
        first=issue.first,
        last=issue.last,
    )


def _raised(event: _Event) -> Iterator[_Exception]:
    for entry in event.entries:
        if entry.type == "exception" and isinstance(entry.data, _Exceptions):
            yield from entry.data.values


def _plain(at: datetime) -> str:
    """Return a time as Sentry takes it: in UTC, without a zone."""
    return f"{at:%Y-%m-%dT%H:%M:%S}"
