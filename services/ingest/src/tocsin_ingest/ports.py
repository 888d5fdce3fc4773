"""What ingest asks of the world."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from tocsin_contracts import Alert, AlertStatus, Event, RunId
from tocsin_kit.intake import Admission
from tocsin_kit.run_view import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One request of a sender, verified and decoded; header names are in lower case."""

    payload: Any
    received_at: datetime
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One alert in its sender's own words; what it means to us is decided in one other place.

    `key` is what the sender itself calls the alert, where its labels do not tell it apart; without
    one the labels are its identity. `severity` is kept as it was written.
    """

    title: str
    labels: Mapping[str, str]
    status: AlertStatus = AlertStatus.FIRING
    severity: str = ""
    summary: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    key: str = ""


class AlertSource(Protocol):
    """Understands one vendor's webhook."""

    @property
    def name(self) -> str:
        """The last part of the webhook's path."""

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alert of one request, firing and resolved; a mere ping has none.

        Raises BadPayloadError that names what is missing or wrong.
        """


class BadPayloadError(ValueError):
    """A body that can be read and is no webhook of its source."""


class Intake(Protocol):
    """The record of which run an alert belongs to."""

    async def admit(self, incident_key: str, alert: Alert) -> Admission:
        """Attach the alert to a run, or open one."""

    async def tell(self, admission: Admission) -> None:
        """Publish the news of it; returns once the bus has stored it."""

    async def close(
        self, incident_key: str, run_id: RunId, reopens_at: datetime | None = None
    ) -> None:
        """Let the next episode open a new run, and from a time on the same one."""

    async def disown(self, incident_key: str, run_id: RunId, fingerprint: str) -> bool:
        """Close an incident whose ended run got a later alert; whether that has no newer run."""


class Runs(Protocol):
    """Makes the record of a new run."""

    async def create(self, event: Event) -> None:
        """Make it; doing it again changes nothing."""


class Reader(Protocol):
    """Reads runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""
