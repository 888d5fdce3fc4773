"""Opsgenie: its outgoing webhooks, and its API as senders of alerts call it."""

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Endpoint, Reading
from tocsin_ingest.sources.fields import Loose, Tags, Text, named, places
from tocsin_ingest.sources.reading import Moment, read

WHAT = "an Opsgenie webhook"

FIRES = frozenset(
    {
        *("create", "acknowledge", "unacknowledge", "escalate"),
        *("updatepriority", "updatemessage", "updatedescription"),
    }
)
"""What happens to an alert that still fires; notes, tags, teams and owners say nothing of it."""

OVER = frozenset({"close", "delete"})


def _priority(given: Any) -> Any:
    return f"P{given}" if isinstance(given, int) else given or ""


class _Alert(Loose):
    message: str = Field(min_length=1)
    id: Text = Field(default="", validation_alias=AliasChoices("alertId", "id"))
    alias: Text = ""
    description: Text = ""
    entity: Text = ""
    source: Text = ""
    priority: Annotated[str, BeforeValidator(_priority)] = ""
    tags: Tags = Field(default_factory=dict)
    details: Tags = Field(default_factory=dict)
    created_at: Moment = Field(default=None, alias="createdAt")
    updated_at: Moment = Field(default=None, alias="updatedAt")


class _Webhook(Loose):
    action: str = Field(min_length=1)
    alert: _Alert


class _Request(Loose):
    source: Text = ""
    note: Text = ""


class Opsgenie:
    """Reads what happened to an alert, the alert that is to be, or the end of one by its address.

    What else is done to an alert at its address says nothing of its condition; a new text comes
    with the request to make it, which Alertmanager sends before.
    """

    name = "opsgenie"
    endpoints = (
        Endpoint("v2/alerts"),
        Endpoint("v2/alerts/{alias}/{act}", ("POST", "PUT")),
    )

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a request; none where only somebody wrote to it."""
        if act := delivery.path.get("act"):
            asked = read(_Request, delivery.payload, "an Opsgenie request")
            return [_closed(delivery.path["alias"], asked)] if act in OVER else []
        if not (isinstance(delivery.payload, dict) and "action" in delivery.payload):
            return [_reading(read(_Alert, delivery.payload, WHAT), over=False)]
        sent = read(_Webhook, delivery.payload, WHAT)
        action = sent.action.lower()
        return [_reading(sent.alert, over=action in OVER)] if action in FIRES | OVER else []


def _closed(alias: str, asked: _Request) -> Reading:
    return Reading(
        title=f"Opsgenie alert {alias}",
        status=AlertStatus.RESOLVED,
        summary=asked.note,
        labels={},
        links=values.links({"sender": asked.source}),
        key=alias,
    )


def _reading(alert: _Alert, *, over: bool) -> Reading:
    said = alert.tags | alert.details
    return Reading(
        title=alert.message,
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        severity=alert.priority or said.get("severity", ""),
        summary=alert.description,
        labels=named(alertname=alert.message, entity=alert.entity) | said | places(said),
        starts_at=alert.created_at,
        ends_at=alert.updated_at if over else None,
        links=values.links({"sender": alert.source}),
        key=alert.alias or alert.id,
    )
