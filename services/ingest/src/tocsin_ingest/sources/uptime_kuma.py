"""Uptime Kuma's webhook notifications."""

from enum import IntEnum

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Loose, Tags, Text, named
from tocsin_ingest.sources.reading import Moment, read

WHAT = "an Uptime Kuma notification"


TEST = "Testing"
"""How the message ends that somebody sends to try the notification."""


class _State(IntEnum):
    DOWN = 0
    UP = 1
    PENDING = 2
    MAINTENANCE = 3


class _Beat(Loose):
    status: _State
    time: Moment = None
    message: Text = Field(default="", alias="msg")
    important: bool = True


class _Monitor(Loose):
    id: int
    name: str = Field(min_length=1)
    url: Text = ""
    type: Text = ""
    hostname: Text = ""
    tags: Tags = Field(default_factory=dict)


class _Notification(Loose):
    heartbeat: _Beat
    monitor: _Monitor
    event_type: Text = ""
    urgency: Text = ""


class _Message(Loose):
    msg: str = Field(min_length=1)


class UptimeKuma:
    """Reads heartbeats that say up or down, and warnings of certificates, which have no monitor."""

    name = "uptime_kuma"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one monitor of a request, if it is known to be up or down."""
        body = delivery.payload
        if isinstance(body, dict) and "msg" in body and body.get("heartbeat") is None:
            said = read(_Message, body, WHAT).msg
            return [] if said.endswith(TEST) else [_warning(said)]
        sent = read(_Notification, body, WHAT)
        state = sent.heartbeat.status
        return [] if state in (_State.PENDING, _State.MAINTENANCE) else [_reading(sent)]


def _warning(said: str) -> Reading:
    return Reading(title=said, summary=said, labels={"alertname": said})


def _reading(sent: _Notification) -> Reading:
    beat, monitor = sent.heartbeat, sent.monitor
    told_over = values.status(sent.event_type) is AlertStatus.RESOLVED
    over = told_over or beat.status is _State.UP
    return Reading(
        title=monitor.name,
        status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
        severity=sent.urgency,
        summary=beat.message,
        labels=named(alertname=monitor.name, type=monitor.type, hostname=monitor.hostname)
        | monitor.tags,
        starts_at=beat.time if beat.important and not over else None,
        ends_at=beat.time if over else None,
        links=values.links({"target": monitor.url}),
        key=f"monitor {monitor.id}",
    )
