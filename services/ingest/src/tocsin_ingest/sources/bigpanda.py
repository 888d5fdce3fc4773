"""BigPanda: alerts as they are posted to it, and incidents as it posts them."""

from typing import Any

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import Loose, Tags, Text, places
from tocsin_ingest.sources.reading import Moment, read, texts

WHAT = "a BigPanda alert"

PRIMARY = ("host", "service", "application", "device")
SECONDARY = ("check", "sensor")
"""What says who an alert is, in this order, where it does not name another field itself."""

_OURS = frozenset(
    ["app_key", "status", "timestamp", "description", "primary_property", "secondary_property"]
)
"""Fields with a meaning of their own; the key is a secret and goes nowhere."""


class _Alert(Loose):
    status: str = Field(min_length=1)
    timestamp: Moment = None
    description: Text = ""
    primary_property: Text = ""
    secondary_property: Text = ""
    incident_identifier: Text = ""


class _Alerts(Loose):
    alerts: list[dict[str, Any]] = Field(min_length=1)


class _IncidentAlert(Loose):
    id: Text = Field(min_length=1)
    status: Text = ""
    active: bool | None = None
    description: Text = ""
    condition_name: Text = Field(default="", alias="conditionName")
    started_at: Moment = Field(default=None, alias="startedOn")
    ended_at: Moment = Field(default=None, alias="endedOn")
    tags: Tags = Field(default_factory=dict)


class _Incident(Loose):
    id: Text = Field(min_length=1)
    active: bool
    severity: Text = ""
    alerts: list[_IncidentAlert] = Field(min_length=1)


class BigPanda:
    """Reads single alerts, batches of them and shared incidents."""

    name = "bigpanda"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alert of a request."""
        body = delivery.payload
        if not isinstance(body, dict):
            return [_posted(body)]
        if "incident" in body or "active" in body:
            sent = read(_Incident, body.get("incident", body), WHAT)
            return [_shared(alert, sent) for alert in sent.alerts]
        if "alerts" in body:
            return [_posted(body | one) for one in read(_Alerts, body, WHAT).alerts]
        return [_posted(body)]


def _posted(body: Any) -> Reading:
    alert = read(_Alert, body, WHAT)
    labels = {name: value for name, value in texts(body).items() if name not in _OURS}
    who = [
        next((labels[name] for name in names if name and name in labels), "")
        for names in (
            (alert.primary_property, *PRIMARY),
            (alert.secondary_property, *SECONDARY),
        )
    ]
    key = alert.incident_identifier or "|".join(who)
    if not who[0] and not alert.incident_identifier:
        raise BadPayloadError(f"not {WHAT}: host: Field required, or what primary_property names")
    over = values.status(alert.status) is AlertStatus.RESOLVED
    return Reading(
        title=who[1] or alert.description or who[0],
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        severity=alert.status,
        summary=alert.description,
        labels=labels | places(labels),
        starts_at=None if over else alert.timestamp,
        ends_at=alert.timestamp if over else None,
        key=key,
    )


def _shared(alert: _IncidentAlert, incident: _Incident) -> Reading:
    ended = values.status(alert.status) is AlertStatus.RESOLVED or alert.active is False
    over = ended or not incident.active
    return Reading(
        title=alert.condition_name or alert.description or f"BigPanda alert {alert.id}",
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        severity=alert.status or incident.severity,
        summary=alert.description,
        labels=alert.tags | places(alert.tags),
        starts_at=alert.started_at,
        ends_at=alert.ended_at if over else None,
        key=alert.id,
    )
