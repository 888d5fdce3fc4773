"""PagerDuty webhooks: version 3, and the messages of the versions before it."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AliasChoices, AliasPath, BeforeValidator, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Loose, Text, named
from tocsin_ingest.sources.reading import Moment, read

INCIDENT = "incident"
"""The type of data that tells how an incident is; notes, responders and pings do not."""


REOPENED = "reopened"
OPENS = frozenset({"trigger", "triggered", REOPENED})
"""What begins an episode."""


def _named(given: Any) -> Any:
    """Return how a reference calls what it refers to."""
    return (
        given.get("summary") or given.get("name") or "" if isinstance(given, dict) else given or ""
    )


Named = Annotated[str, BeforeValidator(_named)]


class _Incident(Loose):
    id: str = Field(min_length=1)
    title: Text = ""
    description: Text = ""
    subject: Text = Field(default="", validation_alias=AliasPath("trigger_summary_data", "subject"))
    status: Text = ""
    urgency: Text = ""
    priority: Named = ""
    service: Named = ""
    html_url: Text = ""
    incident_key: Text = ""
    created_at: Moment = Field(
        default=None, validation_alias=AliasChoices("created_at", "created_on")
    )


class _Kind(Loose):
    type: str = INCIDENT


class _Event(Loose):
    event_type: str = Field(min_length=1)
    occurred_at: Moment = None
    data: dict[str, Any]


class _Webhook(Loose):
    event: _Event


class _Message(Loose):
    event_type: str = Field(validation_alias=AliasChoices("event", "type"), min_length=1)
    occurred_at: Moment = Field(default=None, alias="created_on")
    incident: dict[str, Any] = Field(
        validation_alias=AliasChoices("incident", AliasPath("data", "incident"))
    )


class _Messages(Loose):
    messages: list[_Message] = Field(min_length=1)


class PagerDuty:
    """Reads incidents; whatever else happens around them tells nothing of the condition."""

    name = "pagerduty"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the incident of an event, or those of a list of messages."""
        what = "a PagerDuty webhook"
        if isinstance(delivery.payload, dict) and "messages" in delivery.payload:
            sent = read(_Messages, delivery.payload, what)
            return [
                _reading(read(_Incident, one.incident, what), one.event_type, one.occurred_at)
                for one in sent.messages
            ]
        event = read(_Webhook, delivery.payload, what).event
        if read(_Kind, event.data, what).type != INCIDENT:
            return []
        return [_reading(read(_Incident, event.data, what), event.event_type, event.occurred_at)]


def _reading(incident: _Incident, event_type: str, at: datetime | None) -> Reading:
    happened = event_type.rpartition(".")[2]
    over = AlertStatus.RESOLVED in (values.status(incident.status), values.status(happened))
    began = None if happened == REOPENED else incident.created_at
    if began is None and happened in OPENS:
        began = at
    title = incident.title or incident.subject or incident.description
    return Reading(
        title=title or f"PagerDuty incident {incident.id}",
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        severity=incident.priority or incident.urgency,
        summary=incident.description,
        labels=named(alertname=title, service=incident.service),
        starts_at=began,
        ends_at=at if over else None,
        links=values.links({"source": incident.html_url}),
        key=incident.id,
    )
