"""Zabbix media types of the kind webhook, whatever their parameters are called."""

import re

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import Tags, Text, flat, named, places
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a Zabbix alert"

_LINKED = re.compile(r"[?&]triggerid=(\d+)")

_OVER = "0"
"""The value of an event that ends a problem."""


class _Event(Sent):
    title: str = Field(
        min_length=1,
        validation_alias=AliasChoices(
            "title", "eventname", "triggername", "alertsubject", "subject", "name", "trigger"
        ),
    )
    trigger: Text = Field(default="", alias="triggerid")
    event: Text = Field(default="", alias="eventid")
    value: Text = Field(default="", validation_alias=AliasChoices("eventvalue", "triggervalue"))
    status: Text = Field(
        default="", validation_alias=AliasChoices("eventstatus", "triggerstatus", "status")
    )
    number: Text = Field(
        default="",
        validation_alias=AliasChoices("eventnseverity", "triggernseverity", "nseverity"),
    )
    severity: Text = Field(
        default="", validation_alias=AliasChoices("eventseverity", "triggerseverity", "severity")
    )
    message: Text = Field(
        default="", validation_alias=AliasChoices("description", "alertmessage", "message")
    )
    host: Text = Field(default="", validation_alias=AliasChoices("hostname", "host"))
    tags: Tags = Field(
        default_factory=dict, validation_alias=AliasChoices("eventtags", "eventtagsjson", "tags")
    )
    since: Moment = Field(
        default=None, validation_alias=AliasChoices("eventtimestamp", "timestamp")
    )
    until: Moment = Field(default=None, alias="eventrecoverytimestamp")
    url: Text = Field(default="", validation_alias=AliasChoices("zabbixurl", "url", "link"))


class Zabbix:
    """Reads the documented macros; a date and a time without a zone say nothing certain."""

    name = "zabbix"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one event of a request: its trigger is who it is."""
        said = flat(delivery.payload, WHAT)
        event = read(_Event, said, WHAT)
        known = places(texts(said)) | event.tags
        over = event.value == _OVER or values.status(event.status) is AlertStatus.RESOLVED
        return [
            Reading(
                title=event.title,
                status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
                severity=event.number or event.severity,
                scale=values.ZABBIX,
                summary=event.message,
                labels=named(alertname=event.title, host=event.host) | known | places(known),
                starts_at=event.since,
                ends_at=event.until if over else None,
                links=values.links({"sender": event.url}),
                key=_key(event),
            )
        ]


def _key(event: _Event) -> str:
    """Return the trigger: of its events, the one that is over may be another than the first."""
    linked = _LINKED.search(event.url)
    if trigger := event.trigger or (linked[1] if linked else ""):
        return f"trigger {trigger}"
    if event.event:
        return f"event {event.event}"
    if event.host:
        return f"{event.host}|{event.title}"
    raise BadPayloadError(f"not {WHAT}: trigger_id: Field required, or event_id, or host")
