"""PagerDuty Events API version 2, as a sender of alerts calls it."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import Loose, Tags, Text, named, places
from tocsin_ingest.sources.reading import Moment, read

WHAT = "a PagerDuty event"


class _Action(StrEnum):
    TRIGGER = "trigger"
    ACKNOWLEDGE = "acknowledge"
    RESOLVE = "resolve"


class _Payload(Loose):
    summary: Text = ""
    source: Text = ""
    severity: Text = ""
    timestamp: Moment = None
    component: Text = ""
    group: Text = ""
    kind: Text = Field(default="", alias="class")
    details: Tags = Field(default_factory=dict, alias="custom_details")


class _Link(Loose):
    href: Text = ""
    text: Text = ""


class _Event(Loose):
    event_action: _Action
    dedup_key: Text = ""
    payload: _Payload = Field(default_factory=_Payload)
    client: Text = ""
    client_url: Text = ""
    links: list[_Link] = Field(default_factory=list)


class _Events(Loose):
    events: list[_Event] = Field(min_length=1)


class PagerDutyEvents:
    """Reads one event, or several in a list."""

    name = "pagerduty_events"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the alert of each event."""
        sent = read(_Events, {"events": _listed(delivery.payload)}, WHAT)
        return [_reading(event) for event in sent.events]


def _listed(payload: Any) -> Any:
    if isinstance(payload, dict):
        return payload.get("events", [payload])
    return payload if isinstance(payload, list) else [payload]


def _reading(event: _Event) -> Reading:
    said, over = event.payload, event.event_action is _Action.RESOLVE
    if not event.dedup_key and not (said.summary and event.event_action is _Action.TRIGGER):
        raise BadPayloadError(f"not {WHAT}: dedup_key: Field required, or a trigger with a summary")
    labels = named(source=said.source, component=said.component, group=said.group, kind=said.kind)
    links = {one.text or one.href: one.href for one in event.links}
    return Reading(
        title=said.summary or f"PagerDuty event {event.dedup_key}",
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        severity=said.severity,
        summary=said.summary,
        labels=(labels or {"alertname": said.summary}) | places(said.details),
        annotations=said.details,
        starts_at=None if over else said.timestamp,
        ends_at=said.timestamp if over else None,
        links=values.links({"sender": event.client_url, **links}),
        key=event.dedup_key,
    )
