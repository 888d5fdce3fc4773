"""What triage decides about a new run, each decision in a sentence that a person can read."""

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.base import Value
from tocsin_contracts.event import Event, RunId


class SuppressionKind(StrEnum):
    """What sort of rule held an alert back."""

    TITLE = "title"
    SILENCE = "silence"
    MAINTENANCE = "maintenance"


class CorrelationPart(Value):
    """One reason why two alerts may have one cause, how strong it is, and how much it counts."""

    name: str
    score: float = Field(ge=0, le=1)
    weight: float = Field(ge=0, le=1)
    why: str


class Correlation(Value):
    """How much a new alert has in common with an open run, and in what."""

    into: RunId
    score: float = Field(ge=0, le=1)
    threshold: float = Field(ge=0, le=1)
    parts: tuple[CorrelationPart, ...]


class RelatedAlert(Value):
    """An alert that joined a run after it was opened, and where it came from."""

    alert: Alert
    at: AwareDatetime
    why: str
    run_id: str = Field(default="", description="The run it had of its own, now superseded.")


class IncidentOpened(Event):
    """The run is worth an investigation."""

    topic: ClassVar[str] = "incident.opened.v1"

    alert: Alert
    decisions: tuple[str, ...] = Field(default=(), description="What each step of triage found.")
    freeze: str = Field(default="", description="The change freeze that holds; empty without one.")
    team: str = ""
    environment: str = ""
    auto_approve: str = Field(default="", description="The class of rules that may approve it.")
    related: Correlation | None = Field(
        default=None, description="The open run it would have joined, were correlation switched on."
    )
    storm: str = Field(default="", description="The storm it came in; its digest tells people.")


class AlertSuppressed(Event):
    """A rule of the operator says that this alert needs nobody; the run ends with it."""

    topic: ClassVar[str] = "alert.suppressed.v1"

    alert: Alert
    rule: str
    kind: SuppressionKind = SuppressionKind.TITLE
    by: str = Field(default="", description="Who made the rule.")
    until: AwareDatetime | None = Field(default=None, description="When the rule ends, if it does.")
    decisions: tuple[str, ...] = ()


class RunSuperseded(Event):
    """Another run, which is older, looks after this alert; the run ends with it."""

    topic: ClassVar[str] = "incident.superseded.v1"

    alert: Alert
    into: RunId
    why: str
    correlation: Correlation | None = None
    storm: str = ""
    decisions: tuple[str, ...] = ()


class StormStarted(Event):
    """So many new runs at once that those with one root share one; told by the run that did it."""

    topic: ClassVar[str] = "incident.storm-started.v1"

    storm: str
    new_runs: int = Field(ge=1, description="New runs within the window.")
    window_seconds: float = Field(gt=0)


class StormRoot(Value):
    """What some runs of a storm have in common, and the run that stands for them."""

    root: str
    runs: int = Field(ge=1)
    leader: RunId


class StormEnded(Event):
    """New runs are few again: what the storm was made of, the biggest root first."""

    topic: ClassVar[str] = "incident.storm-ended.v1"

    storm: str
    started_at: AwareDatetime
    new_runs: int = Field(ge=0)
    roots: tuple[StormRoot, ...]
    more_roots: int = Field(default=0, ge=0, description="Roots that are not listed.")
