"""Amazon EventBridge events: CloudWatch alarms, and changes that any AWS service tells of."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import MOST_ALERTS, Text, places, plain
from tocsin_ingest.sources.guessing import words
from tocsin_ingest.sources.guessing.parts import parts_of, texts_under
from tocsin_ingest.sources.lambda_alarm import alarm_reading
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

ALARM = "CloudWatch Alarm State Change"

_STATES = ("state", "status", "statuscode", "laststatus", "stepstatus", "buildstatus", "newstate")
_SUMMARIES = ("description", "statusmessage", "stoppedreason", "reason", "cause", "message")
_THINGS = ("arn", "eventarn", "findingid", "pipeline", "stage", "action", "projectname", "jobname")
"""Fields of a detail that tell events of one kind and resource apart."""

_NAMES = (*_THINGS, "id", "type")
"""Those of an event that names no resource."""

_SEVERITIES = ("severity", "severitylabel")


class _Event(Sent):
    kind: str = Field(alias="detail-type", min_length=1)
    source: str = Field(min_length=1)
    detail: dict[str, Any]
    account: Text = ""
    region: Text = ""
    time: Moment = None
    resources: list[str] | None = None


class EventBridge:
    """Reads events as API destinations send them, one or a list."""

    name = "eventbridge"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return one alert for each event."""
        payload = delivery.payload
        several = payload[:MOST_ALERTS] if isinstance(payload, list) else []
        return [event_reading(event) for event in several or [payload]]


def is_event(content: Mapping[str, Any]) -> bool:
    """Return whether an object is an event of EventBridge."""
    return "detail-type" in content and "detail" in content


def event_reading(payload: Any) -> Reading:
    """Return the alert of one event; BadPayloadError names what it lacks."""
    event = read(_Event, payload, "an EventBridge event")
    if event.kind == ALARM:
        arn = event.resources[0] if event.resources else ""
        place = {"alarmArn": arn, "accountId": event.account, "region": event.region}
        return alarm_reading({"alarmData": event.detail, "time": event.time, **place})
    parts = parts_of(event.detail)
    told = filter(None, map(words.state, texts_under(parts[:1], _STATES)))
    status = next(told, AlertStatus.FIRING)
    over = status is AlertStatus.RESOLVED
    labels = _labels(event)
    return Reading(
        title=event.kind,
        status=status,
        severity=next(texts_under(parts, _SEVERITIES), ""),
        summary=next(texts_under(parts, _SUMMARIES), ""),
        labels={**places(labels), **labels},
        annotations=texts(event.detail),
        starts_at=None if over else event.time,
        ends_at=event.time if over else None,
    )


def _labels(event: _Event) -> dict[str, str]:
    known = {
        "source": event.source,
        "detail_type": event.kind,
        "account": event.account,
        "region": event.region,
        "resources": " ".join(sorted(event.resources or [])),
    }
    things = {
        name: text
        for name, text in texts(event.detail).items()
        if plain(name) in (_THINGS if event.resources else _NAMES)
    }
    return things | texts(known)
