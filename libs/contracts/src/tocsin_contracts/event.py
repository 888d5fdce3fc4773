"""What every event carries, how its class maps to a subject, and how its id is derived."""

import hashlib
from datetime import UTC, datetime
from typing import ClassVar, NewType, Self

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value
from tocsin_contracts.states import RunState

PREFIX = "tocsin"
CLOUDEVENTS_TYPE = "io.tocsin"

RunId = NewType("RunId", str)


def derive_id(cause: str, topic: str, ordinal: int = 0) -> str:
    """Return the id of the event number `ordinal` of a topic that follows from a cause.

    The same cause always yields the same id, so a handler that runs twice publishes once.
    A digest keeps ids at 32 characters however long the chain of causes is.
    """
    return hashlib.sha256(f"{cause}:{topic}:{ordinal}".encode()).hexdigest()[:32]


def _now() -> datetime:
    return datetime.now(UTC)


class Event(Value):
    """A fact that already happened. Immutable, and safe to deliver twice."""

    topic: ClassVar[str]
    moves_to: ClassVar[RunState | None] = None

    run_id: RunId = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    id: str = Field(default="", description="Deterministic, and the Nats-Msg-Id.")
    at: AwareDatetime = Field(default_factory=_now)
    cause: str = Field(default="", description="Id of the event that led here; empty at the start.")
    producer: str = Field(default="", description="The service that published it.")
    run_version: int = Field(default=0, ge=0, description="Version of the run that it made true.")
    trace: str | None = Field(default=None, description="W3C traceparent.")

    @property
    def subject(self) -> str:
        """Where this very event is published; the run comes last so one run can be watched."""
        return f"{PREFIX}.{self.topic}.{self.run_id}"

    @property
    def state(self) -> RunState | None:
        """The state of the run once this fact holds; None leaves it where it is."""
        return self.moves_to

    @classmethod
    def pattern(cls) -> str:
        """The subject filter that matches this event for every run."""
        return f"{PREFIX}.{cls.topic}.*"

    def caused_by(self, cause: str, producer: str, ordinal: int = 0) -> Self:
        """Return this event with its lineage filled in and its id derived from it."""
        derived = derive_id(cause, self.topic, ordinal)
        return self.model_copy(update={"id": derived, "cause": cause, "producer": producer})

    def headers(self) -> dict[str, str]:
        """Return the NATS headers: deduplication id and the CloudEvents 1.0 attributes."""
        headers = {
            "Nats-Msg-Id": self.id,
            "ce-specversion": "1.0",
            "ce-id": self.id,
            "ce-type": f"{CLOUDEVENTS_TYPE}.{self.topic}",
            "ce-source": f"/{PREFIX}/{self.producer}",
            "ce-time": self.at.isoformat(),
            "ce-subject": self.run_id,
            "content-type": "application/json",
        }
        return headers | ({"traceparent": self.trace} if self.trace else {})
