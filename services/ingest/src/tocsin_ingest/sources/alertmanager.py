"""Prometheus Alertmanager webhooks, version 4."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from tocsin_contracts import Alert, AlertStatus, Severity
from tocsin_ingest import admission
from tocsin_ingest.ports import BadPayloadError

NEVER = 1
"""The year of Go's zero time, which Alertmanager sends for an end that is not known."""

SEVERITIES = {
    Severity.CRITICAL: {"critical", "crit", "page", "error", "high", "sev1", "p1", "disaster"},
    Severity.WARNING: {"warning", "warn", "medium", "sev2", "sev3", "p2", "p3", "average"},
    Severity.INFO: {"info", "information", "informational", "low", "notice", "p4", "p5"},
    Severity.NONE: {"none"},
}


class _Alert(BaseModel):
    model_config = ConfigDict(extra="ignore")

    status: AlertStatus
    labels: dict[str, str] = Field(min_length=1)
    annotations: dict[str, str] = Field(default_factory=dict)
    startsAt: AwareDatetime | None = None  # noqa: N815 - the sender's own names
    endsAt: AwareDatetime | None = None  # noqa: N815
    generatorURL: str = ""  # noqa: N815


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore")

    alerts: list[_Alert] = Field(min_length=1, max_length=1000)


class Alertmanager:
    """Reads the fields that every Alertmanager sends; only the status of each alert counts."""

    name = "alertmanager"

    def parse(self, payload: Mapping[str, Any], replica_labels: frozenset[str]) -> list[Alert]:
        """Return every alert of a group notification."""
        try:
            read = _Payload.model_validate(payload)
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]
            )
            raise BadPayloadError(f"not an Alertmanager notification: {faults}") from None
        return [_alert(self.name, raw, replica_labels) for raw in read.alerts]


def _alert(source: str, raw: _Alert, replica_labels: frozenset[str]) -> Alert:
    given = raw.labels.get("severity", "")
    return Alert(
        source=source,
        fingerprint=admission.fingerprint(source, raw.labels, replica_labels),
        status=raw.status,
        title=raw.labels.get("alertname", "unnamed alert"),
        severity=_severity(given),
        severity_given=given,
        summary=raw.annotations.get("summary") or raw.annotations.get("description", ""),
        labels=raw.labels,
        annotations=raw.annotations,
        starts_at=_known(raw.startsAt),
        ends_at=_known(raw.endsAt),
        link=raw.generatorURL if raw.generatorURL.startswith(("http://", "https://")) else "",
        workload=admission.workload(raw.labels),
    )


def _severity(given: str) -> Severity:
    plain = given.strip().lower()
    return next((ours for ours, names in SEVERITIES.items() if plain in names), Severity.UNKNOWN)


def _known(at: datetime | None) -> datetime | None:
    return None if at is None or at.year == NEVER else at
