"""CloudEvents 1.0 in every mode of HTTP: structured, batched, and binary with its headers."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import unquote

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources import generic, kubernetes_event
from tocsin_ingest.sources.alertmanager import Alertmanager
from tocsin_ingest.sources.fields import MOST_ALERTS, Text, decoded
from tocsin_ingest.sources.kubernetes_event import KubernetesEvent
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a CloudEvent"
PREFIX = "ce-"
"""What the headers of a binary event begin with."""


class _Attributes(Sent):
    specversion: str = Field(min_length=1)
    id: str = Field(min_length=1)
    source: str = Field(min_length=1)
    type: str = Field(min_length=1)
    subject: Text = ""
    time: Moment = None


class CloudEvents:
    """Reads the attributes itself, and the data as its shape says."""

    name = "cloudevents"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the alerts of every event of a body."""
        payload, headers = delivery.payload, delivery.headers
        if f"{PREFIX}specversion" in headers:
            attributes = {
                name.removeprefix(PREFIX): unquote(text)
                for name, text in headers.items()
                if name.startswith(PREFIX)
            }
            return _readings(read(_Attributes, attributes, WHAT), payload, delivery)
        several = isinstance(payload, list) and payload
        events = payload if several else [payload]
        found = (reading for one in events for reading in _structured(one, delivery))
        return list(islice(found, MOST_ALERTS))


def _structured(event: Any, delivery: Delivery) -> list[Reading]:
    attributes = read(_Attributes, event, WHAT)
    return _readings(attributes, _data(event), delivery)


def _data(event: Mapping[str, Any]) -> Any:
    """The data of a structured event, decoded where it stands as text or as bytes."""
    if "data_base64" in event:
        try:
            return decoded(base64.b64decode(event["data_base64"], validate=True))
        except (TypeError, ValueError):
            raise BadPayloadError(f"not {WHAT}: data_base64: it is not Base64") from None
    return decoded(event.get("data"))


def _readings(event: _Attributes, data: Any, delivery: Delivery) -> list[Reading]:
    if not isinstance(data, dict | list) or not data:
        return [_bare(event, data)]
    inner = replace(delivery, payload=data, headers={})
    if isinstance(data, dict) and isinstance(data.get("alerts"), list):
        return _group(inner)
    if isinstance(data, dict) and kubernetes_event.is_event(data):
        return KubernetesEvent().parse(inner)
    found = generic.readings(data, {"subject": event.subject or event.type})
    return [_within(reading, event) for reading in found]


def _group(delivery: Delivery) -> list[Reading]:
    """A group of alerts, as Alertmanager sends it; an empty one says nothing."""
    alerts = delivery.payload["alerts"]
    shaped = all(isinstance(one, dict) and "labels" in one for one in alerts)
    if not alerts:
        return []
    return Alertmanager().parse(delivery) if shaped else generic.readings(delivery.payload)


def _bare(event: _Attributes, data: Any) -> Reading:
    """An event whose data is a text, or nothing."""
    over = event.type.lower().endswith((".resolved", ".recovered", ".closed"))
    return Reading(
        title=event.subject or event.type,
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        summary=str(data or ""),
        labels=texts({"source": event.source, "subject": event.subject or event.type}),
        starts_at=None if over else event.time,
        ends_at=event.time if over else None,
    )


def _within(reading: Reading, event: _Attributes) -> Reading:
    """The reading of an event's data, with where the event came from."""
    over = reading.status is AlertStatus.RESOLVED
    return replace(
        reading,
        labels={"source": event.source, **texts({"subject": event.subject}), **reading.labels},
        starts_at=reading.starts_at or (None if over else event.time),
        ends_at=reading.ends_at or (event.time if over else None),
    )
