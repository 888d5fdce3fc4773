"""Alerts, and the facts ingest states about them."""

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value
from tocsin_contracts.event import Event
from tocsin_contracts.states import RunState
from tocsin_contracts.workload import Workload


class Severity(StrEnum):
    """How loudly the source shouted; unknown is said, never guessed."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    NONE = "none"
    UNKNOWN = "unknown"


class AlertStatus(StrEnum):
    """Whether the condition holds."""

    FIRING = "firing"
    RESOLVED = "resolved"


class Incident(Value):
    """What alerts of one incident have in common: why they are the same one."""

    key: str
    parts: dict[str, str] = Field(default_factory=dict, description="What the key is made of.")


class Alert(Value):
    """One alert as every source hands it over. All of its text is untrusted."""

    source: str
    instance: str = Field(default="", description="Which of several senders of one kind sent it.")
    fingerprint: str
    status: AlertStatus
    title: str
    severity: Severity
    severity_given: str = ""
    summary: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    starts_at: AwareDatetime | None = None
    ends_at: AwareDatetime | None = None
    link: str = ""
    links: dict[str, str] = Field(default_factory=dict, description="By name; all http or https.")
    cleaned: bool = Field(default=False, description="Whether hidden characters were taken out.")
    keyed: bool = Field(
        default=False,
        description="Whether its sender names it: then its labels need not be on every delivery.",
    )
    workload: Workload | None = None
    incident: Incident | None = Field(default=None, description="Which others it belongs with.")


class AlertAccepted(Event):
    """A firing alert opened a run. Its key says which later alerts belong to the same incident."""

    topic: ClassVar[str] = "alert.accepted.v1"
    moves_to: ClassVar[RunState | None] = RunState.RECEIVED

    alert: Alert
    incident_key: str


class Novelty(StrEnum):
    """What a delivery told that its run did not know yet."""

    NOTHING = "nothing"
    ALERT = "alert"
    EPISODE = "episode"
    SEVERITY = "severity"
    TEXT = "text"


class AlertRepeated(Event):
    """A delivery told a run of another alert, or of a change; what is not new is only counted."""

    topic: ClassVar[str] = "alert.repeated.v1"

    alert: Alert
    occurrences: int = Field(ge=1, description="Deliveries attached to the run so far.")
    novelty: Novelty = Field(default=Novelty.NOTHING, description="What is new about it.")
    episodes: int = Field(default=1, ge=1, description="Times the run's alerts began to fire.")


class AlertResolved(Event):
    """An alert of a run cleared; `still_firing` counts its siblings that have not."""

    topic: ClassVar[str] = "alert.resolved.v1"

    alert: Alert
    still_firing: int = Field(ge=0)
