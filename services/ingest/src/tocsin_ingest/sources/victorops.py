"""VictorOps, now Splunk On-Call: its REST endpoint's body, and its outgoing webhooks."""

from typing import Any

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Endpoint, Reading
from tocsin_ingest.sources.fields import Text, decoded, flat, named, places
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a VictorOps alert"


class _Alert(Sent):
    type: Text = Field(
        validation_alias=AliasChoices(
            "messagetype", "alertmessagetype", "entitystate", "incidententitystate"
        )
    )
    entity: Text = Field(
        default="", validation_alias=AliasChoices("entityid", "alertentityid", "stateentityid")
    )
    title: Text = Field(
        default="",
        validation_alias=AliasChoices(
            "entitydisplayname", "incidententitydisplayname", "alertentitydisplayname"
        ),
    )
    message: Text = Field(
        default="", validation_alias=AliasChoices("statemessage", "alertstatemessage")
    )
    tool: Text = Field(
        default="", validation_alias=AliasChoices("monitoringtool", "alertmonitoringtool")
    )
    phase: Text = Field(
        default="", validation_alias=AliasChoices("incidentcurrentphase", "currentalertphase")
    )
    state: Text = Field(
        default="", validation_alias=AliasChoices("incidententitystate", "entitystate")
    )
    opened_at: Moment = Field(
        default=None,
        validation_alias=AliasChoices(
            "incidentincidenttimestamp", "stateincidenttimestamp", "voalertrcvtime"
        ),
    )
    changed_at: Moment = Field(
        default=None, validation_alias=AliasChoices("statestarttime", "timestamp")
    )
    resolved_at: Moment = Field(default=None, alias="stateresolvedat")


class VictorOps:
    """Reads either form; a webhook's form fields hold JSON of their own."""

    name = "victorops"
    takes_forms = True
    endpoints = (
        Endpoint("{token}/{routing_key}"),
        Endpoint("integrations/generic/20131114/alert/{token}/{routing_key}"),
    )

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a request."""
        said = flat(_unquoted(delivery.payload), WHAT)
        alert = read(_Alert, said, WHAT)
        if not (alert.entity or alert.title):
            raise BadPayloadError(f"not {WHAT}: entity_id: Field required")
        return [_reading(alert, texts(said), delivery.path.get("routing_key", ""))]


def _reading(alert: _Alert, said: dict[str, str], routing_key: str) -> Reading:
    words = (alert.type, alert.phase, alert.state)
    over = AlertStatus.RESOLVED in map(values.status, words)
    title = alert.title or alert.entity
    return Reading(
        title=title,
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        severity=alert.type,
        summary=alert.message,
        labels=named(
            alertname=said.get("alertname", title),
            monitoring_tool=alert.tool,
            routing_key=routing_key,
        )
        | places(said),
        starts_at=alert.opened_at or (None if over else alert.changed_at),
        ends_at=(alert.resolved_at or alert.changed_at) if over else None,
        key=alert.entity,
    )


def _unquoted(payload: Any) -> Any:
    if not isinstance(payload, dict):
        return payload
    return {name: decoded(one) if _is_quoted(one) else one for name, one in payload.items()}


def _is_quoted(value: Any) -> bool:
    return isinstance(value, str) and value.startswith('"')
