"""Graylog event notifications, and the alarm callbacks of its older versions."""

from typing import Any

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Tags, Text, places
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a Graylog notification"
LEVEL = "level"
"""The field of a message that has its severity in syslog; an event has a priority instead."""


class _Event(Sent):
    message: Text = ""
    priority: Text = ""
    timestamp: Moment = None
    source: Text = ""
    key: Text = ""
    group_by: Tags = Field(default_factory=dict, alias="group_by_fields")
    fields: Tags = Field(default_factory=dict)


class _Notification(Sent):
    title: str = Field(alias="event_definition_title", min_length=1)
    event: _Event
    definition: Text = Field(default="", alias="event_definition_id")
    description: Text = Field(default="", alias="event_definition_description")


class _Result(Sent):
    description: Text = Field(default="", alias="result_description")
    triggered: bool = True
    triggered_at: Moment = None
    condition: dict[str, Any] | None = Field(default=None, alias="triggered_condition")


class _Stream(Sent):
    title: str = Field(min_length=1)
    id: Text = ""
    description: Text = ""


class _Callback(Sent):
    result: _Result = Field(alias="check_result")
    stream: _Stream


class Graylog:
    """Reads both forms; an event of today's is never resolved."""

    name = "graylog"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a body."""
        payload = delivery.payload
        if isinstance(payload, dict) and "check_result" in payload:
            return [_callback(read(_Callback, payload, WHAT))]
        return [_notification(read(_Notification, payload, WHAT))]


def _notification(sent: _Notification) -> Reading:
    event = sent.event
    named = {"event_definition": sent.title, "id": sent.definition, "event_key": event.key}
    labels = event.group_by | texts(named)
    return Reading(
        title=sent.title,
        severity=event.priority or event.fields.get(LEVEL, ""),
        scale=values.GRAYLOG if event.priority else values.SYSLOG,
        summary=event.message or sent.description,
        labels={**places(event.fields), **places(labels), **labels},
        annotations=event.fields | texts({"description": sent.description, "source": event.source}),
        starts_at=event.timestamp,
    )


def _callback(sent: _Callback) -> Reading:
    result, stream = sent.result, sent.stream
    condition = result.condition or {}
    labels = {
        "stream": stream.title,
        "stream_id": stream.id,
        "condition_id": condition.get("id"),
        "condition_type": condition.get("type"),
    }
    return Reading(
        title=stream.title,
        status=AlertStatus.FIRING if result.triggered else AlertStatus.RESOLVED,
        summary=result.description,
        labels=texts(labels),
        annotations=texts({"description": stream.description}),
        starts_at=result.triggered_at if result.triggered else None,
    )
