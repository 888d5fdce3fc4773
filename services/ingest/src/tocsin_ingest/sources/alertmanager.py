"""Prometheus Alertmanager webhooks, versions 3 and 4."""

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.reading import Moment, Sent, read


class _Alert(Sent):
    status: AlertStatus
    labels: dict[str, str] = Field(min_length=1)
    annotations: dict[str, str] = Field(default_factory=dict)
    starts_at: Moment = Field(default=None, alias="startsAt")
    ends_at: Moment = Field(default=None, alias="endsAt")
    generator_url: str = Field(default="", alias="generatorURL")


class _Payload(Sent):
    alerts: list[_Alert] = Field(min_length=1)
    external_url: str = Field(default="", alias="externalURL")


class Alertmanager:
    """Reads the fields that every Alertmanager sends; only the status of each alert counts."""

    name = "alertmanager"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alert of a group notification."""
        sent = read(_Payload, delivery.payload, "an Alertmanager notification")
        return [_reading(alert, sent.external_url) for alert in sent.alerts]


def _reading(alert: _Alert, base: str) -> Reading:
    return Reading(
        title=alert.labels.get("alertname", "unnamed alert"),
        status=alert.status,
        severity=alert.labels.get("severity", ""),
        summary=alert.annotations.get("summary") or alert.annotations.get("description", ""),
        labels=alert.labels,
        annotations=alert.annotations,
        starts_at=alert.starts_at,
        ends_at=alert.ends_at,
        links=values.links({"source": alert.generator_url, "sender": base}, base),
    )
