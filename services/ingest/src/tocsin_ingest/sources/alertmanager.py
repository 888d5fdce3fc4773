"""Prometheus Alertmanager webhooks, versions 3 and 4."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.reading import Moment, Sent, read

_SUMMARIES = ("summary", "description", "message")


class Member(Sent):
    """One alert of a group."""

    status: AlertStatus | None = None
    labels: dict[str, str] = Field(min_length=1)
    annotations: dict[str, str] = Field(default_factory=dict)
    starts_at: Moment = Field(default=None, alias="startsAt")
    ends_at: Moment = Field(default=None, alias="endsAt")
    generator_url: str = Field(default="", alias="generatorURL")


class Group(Sent):
    """What every group notification says of its alerts together."""

    status: AlertStatus | None = None
    external_url: str = Field(default="", alias="externalURL")


class _Notification(Group):
    alerts: list[Member]


class Alertmanager:
    """Reads the fields that every Alertmanager sends; the status of each alert counts first."""

    name = "alertmanager"
    repeatable = True

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alert of a group notification."""
        sent = read(_Notification, delivery.payload, "an Alertmanager notification")
        refuse_nothing(sent.alerts, sent, "an Alertmanager notification")
        return [
            reading(
                alert,
                sent,
                delivery.received_at,
                {"source": alert.generator_url, "sender": sent.external_url},
            )
            for alert in sent.alerts
        ]


def refuse_nothing(alerts: Sequence[Member], group: Group, what: str) -> None:
    """Raise BadPayloadError for a list without alerts, unless it is that of a real group."""
    if not alerts and group.status is None:
        raise BadPayloadError(f"not {what}: alerts: there is none, and no status of the group")


def reading(
    member: Member,
    group: Group,
    received_at: datetime,
    links: Mapping[str, str],
    key: str = "",
) -> Reading:
    """Return one alert of a group; links are read against the sender's own address.

    Raises BadPayloadError where nothing says whether it fires.
    """
    notes = member.annotations
    return Reading(
        title=member.labels.get("alertname") or "unnamed alert",
        status=member.status or group.status or _by_its_end(member, received_at),
        severity=member.labels.get("severity", ""),
        scale=values.SEVS,
        summary=next((notes[name] for name in _SUMMARIES if notes.get(name)), ""),
        labels=member.labels,
        annotations=notes,
        starts_at=member.starts_at,
        ends_at=member.ends_at,
        links=values.links(links, group.external_url),
        key=key,
    )


def _by_its_end(member: Member, received_at: datetime) -> AlertStatus:
    """Return what Alertmanager itself makes of an alert: over once its end has passed."""
    if "ends_at" not in member.model_fields_set:
        raise BadPayloadError("an alert without status: its own, its group's or endsAt must say it")
    over = member.ends_at is not None and member.ends_at <= received_at
    return AlertStatus.RESOLVED if over else AlertStatus.FIRING
