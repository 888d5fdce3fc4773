"""What ingest asks of the world."""

from collections.abc import Mapping
from typing import Any, Protocol

from tocsin_contracts import Alert, Event, RunId
from tocsin_kit.intake import Admission
from tocsin_kit.run_view import Run


class AlertSource(Protocol):
    """Understands one vendor's webhook."""

    @property
    def name(self) -> str:
        """The last part of the webhook's path."""

    def parse(self, payload: Mapping[str, Any], replica_labels: frozenset[str]) -> list[Alert]:
        """Return every alert of one request, firing and resolved.

        Raises BadPayloadError that names what is missing or wrong.
        """


class BadPayloadError(ValueError):
    """A body that is valid JSON and no webhook of its source."""


class Intake(Protocol):
    """The record of which run an alert belongs to."""

    async def admit(self, incident_key: str, alert: Alert) -> Admission:
        """Attach the alert to a run, or open one."""

    async def tell(self, admission: Admission) -> None:
        """Publish the news of it; returns once the bus has stored it."""

    async def close(self, incident_key: str, run_id: RunId) -> None:
        """Let the next episode open a new run."""

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
