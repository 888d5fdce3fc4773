"""Datadog webhooks: the default body, and whatever an operator made of its variables."""

import re

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Tags, Text, flat, places, tags
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a Datadog webhook"

AGAIN = re.compile(r"re-?(?:triggered|warn|no data|notify|notified)", re.IGNORECASE)
"""Transitions that tell once more of what was told before."""

_TITLE = re.compile(
    r"(?:\[(?P<priority>P[1-5])\]\s*)?"
    r"\[(?P<state>(?:re-?)?(?:triggered|warn|no data|notify)|recovered|alert|ok)"
    r"(?:\s+on\s+\{?(?P<scope>[^\]}]*)\}?)?\]\s*(?P<name>.+)",
    re.IGNORECASE | re.DOTALL,
)
_PRIORITY = re.compile(r"P?([1-5])", re.IGNORECASE)


class _Webhook(Sent):
    title: str = Field(
        min_length=1,
        validation_alias=AliasChoices("title", "eventtitle", "alerttitle", "alertname"),
    )
    body: Text = Field(
        default="",
        validation_alias=AliasChoices("textonlymsg", "body", "eventmsg", "message", "description"),
    )
    monitor: Text = Field(default="", validation_alias=AliasChoices("alertid", "monitorid"))
    group: Text = Field(default="", validation_alias=AliasChoices("aggregkey", "aggregationkey"))
    scope: Tags = Field(
        default_factory=dict, validation_alias=AliasChoices("alertscope", "scopes", "scope")
    )
    tags: Tags = Field(default_factory=dict)
    state: Text = Field(
        default="", validation_alias=AliasChoices("alerttransition", "transition", "status")
    )
    kind: Text = Field(default="", alias="alerttype")
    priority: Text = Field(default="", validation_alias=AliasChoices("alertpriority", "priority"))
    severity: Text = ""
    date: Moment = None
    link: Text = Field(default="", validation_alias=AliasChoices("link", "url", "alertlink"))
    snapshot: Text = Field(default="", validation_alias=AliasChoices("snapshot", "snapshoturl"))


class Datadog:
    """Reads the documented variables under any spelling; what they leave out, the title says."""

    name = "datadog"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a request."""
        said = flat(delivery.payload, WHAT)
        sent = read(_Webhook, said, WHAT)
        told = _TITLE.fullmatch(sent.title)
        name = told["name"] if told else sent.title
        scope = sent.scope or (tags(told["scope"] or "") if told else {})
        state = sent.state or (told["state"] if told else "")
        over = AlertStatus.RESOLVED in (values.status(state), values.status(sent.kind))
        where = ",".join(f"{one}:{scope[one]}" for one in sorted(scope))
        known = places(texts(said)) | sent.tags | scope
        return [
            Reading(
                title=name,
                status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
                severity=_severity(sent, told["priority"] if told else "", state),
                summary=sent.body,
                labels={"alertname": name} | known | places(known),
                starts_at=None if over or AGAIN.fullmatch(state) else sent.date,
                ends_at=sent.date if over else None,
                links=values.links({"source": sent.link, "snapshot": sent.snapshot}),
                key=_key(sent, name, where),
            )
        ]


def _key(sent: _Webhook, name: str, where: str) -> str:
    """Return the monitor and the group of its hosts; the id of an event is another every time."""
    if sent.monitor:
        return f"{sent.monitor}|{where}"
    return sent.group or f"{name}|{where}"


def _severity(sent: _Webhook, in_title: str | None, state: str) -> str:
    """Return the monitor's priority, else what kind of alert it is; an event's priority is none."""
    priority = _PRIORITY.fullmatch(sent.priority)
    written = f"P{priority[1]}" if priority else in_title
    warns = "warn" if state.lower().endswith("warn") else ""
    return sent.severity or written or sent.kind or warns
