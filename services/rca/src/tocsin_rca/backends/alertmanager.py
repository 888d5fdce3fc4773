"""Alertmanager: what fires now, and what somebody has silenced, as its API v2 tells it."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief, Limit, Told, counted
from tocsin_rca.backends.client import Client
from tocsin_rca.backends.options import BackendOptions

_MOST_LABELS = 20
_LONGEST = 300
_SIGNS = {(True, False): "=", (True, True): "=~", (False, False): "!=", (False, True): "!~"}

Matcher = Annotated[str, Field(pattern=r'^[a-zA-Z_][a-zA-Z0-9_]*\s*(=|!=|=~|!~)\s*".{0,200}"$')]
Matchers = Annotated[
    tuple[Matcher, ...],
    Field(max_length=10, description='What labels must be, such as namespace="shop"; all count.'),
]


class AlertmanagerOptions(BackendOptions):
    """An Alertmanager, or what speaks its API: that of Mimir lies below `/alertmanager`."""

    type: Literal["alertmanager"]

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = AlertmanagerTools(client, self.page)
        return (told.alerts, told.silences)


class _Status(BaseModel):
    state: str
    silenced: list[str] = Field(default=[], alias="silencedBy")
    inhibited: list[str] = Field(default=[], alias="inhibitedBy")


class _Alert(BaseModel):
    labels: dict[str, str]
    annotations: dict[str, str] = {}
    starts: AwareDatetime = Field(alias="startsAt")
    status: _Status


class _SilenceStatus(BaseModel):
    state: str


class _Matcher(BaseModel):
    name: str
    value: str
    regex: bool = Field(default=False, alias="isRegex")
    equal: bool = Field(default=True, alias="isEqual")


class _Silence(BaseModel):
    id: str
    matchers: list[_Matcher]
    starts: AwareDatetime = Field(alias="startsAt")
    ends: AwareDatetime = Field(alias="endsAt")
    author: str = Field(default="", alias="createdBy")
    comment: str = ""
    status: _SilenceStatus


class AlertRow(Brief):
    """An alert; `silenced_by` are ids of silences, `inhibited` says that another one hides it."""

    name: str
    since: AwareDatetime
    summary: str = ""
    labels: dict[str, str] = Field(default={})
    silenced_by: tuple[str, ...] = ()
    inhibited: bool | None = None


class Alerts(Told):
    """What fires, the longest first; `by_name` counts all of it."""

    by_name: dict[str, int] = Field(default={})
    alerts: tuple[AlertRow, ...] = ()


class SilenceRow(Brief):
    """A silence; a pending one begins later."""

    id: str
    state: str
    matches: tuple[str, ...]
    starts: AwareDatetime
    ends: AwareDatetime
    author: str = ""
    comment: str = ""


class Silences(Told):
    """Silences in force or to come, what ends first being first."""

    silences: tuple[SilenceRow, ...] = ()


class AlertmanagerTools:
    """One method a tool."""

    def __init__(self, client: Client, page: str) -> None:
        self._client = client
        self._page = page

    async def alerts(self, matchers: Matchers = (), limit: Limit = 20) -> Alerts:
        """Show the alerts that fire now, silenced and inhibited ones too, the longest first."""
        found = await self._client.get(list[_Alert], "/api/v2/alerts", {"filter": matchers})
        found.sort(key=lambda one: one.starts)
        silenced = sum(bool(one.status.silenced) for one in found)
        hidden = f", {silenced} of them silenced" if silenced else ""
        names = Counter(line(one.labels.get("alertname", "?")) for one in found)
        return Alerts(
            said=f"{counted(len(found), 'alert fires', 'alerts fire')}{hidden}.",
            link=f"{self._page}/#/alerts",
            left_out=max(0, len(found) - limit) or None,
            by_name=dict(names.most_common(20)),
            alerts=tuple(_alert(one) for one in found[:limit]),
        )

    async def silences(self, matchers: Matchers = (), limit: Limit = 20) -> Silences:
        """Show the silences that are in force or will be, and who set them and why."""
        every = await self._client.get(list[_Silence], "/api/v2/silences", {"filter": matchers})
        found = [one for one in every if one.status.state in ("active", "pending")]
        found.sort(key=lambda one: one.ends)
        active = sum(one.status.state == "active" for one in found)
        return Silences(
            said=f"{counted(active, 'silence is', 'silences are')} in force, "
            f"{len(found) - active} to come.",
            link=f"{self._page}/#/silences",
            left_out=max(0, len(found) - limit) or None,
            silences=tuple(_silence(one) for one in found[:limit]),
        )


def _alert(alert: _Alert) -> AlertRow:
    labels = dict(list(alert.labels.items())[:_MOST_LABELS])
    said = alert.annotations.get("summary") or alert.annotations.get("description", "")
    return AlertRow(
        name=line(labels.pop("alertname", "?")),
        since=alert.starts,
        summary=line(said, _LONGEST),
        labels={line(name): line(text) for name, text in labels.items()},
        silenced_by=tuple(map(line, alert.status.silenced)),
        inhibited=bool(alert.status.inhibited) or None,
    )


def _silence(silence: _Silence) -> SilenceRow:
    return SilenceRow(
        id=line(silence.id),
        state=silence.status.state,
        matches=tuple(map(_matcher, silence.matchers)),
        starts=silence.starts,
        ends=silence.ends,
        author=line(silence.author),
        comment=line(silence.comment, _LONGEST),
    )


def _matcher(one: _Matcher) -> str:
    return f"{line(one.name)}{_SIGNS[one.equal, one.regex]}{line(one.value)}"
