"""Evidence, findings and the hypothesis they support."""

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.base import Value
from tocsin_contracts.causes import CauseClass
from tocsin_contracts.event import Event
from tocsin_contracts.states import RunState
from tocsin_contracts.usage import ModelUse
from tocsin_contracts.workload import ObjectRef

FieldPath = tuple[str | int, ...]
"""Steps from a document's root to a field: keys, indices, or `[name=app]` to choose a list item."""

Scalar = str | int | float | bool | None


class EvidenceKind(StrEnum):
    """What sort of thing was looked at."""

    ALERT = "alert"
    OBJECT = "object"
    POD = "pod"
    EVENT = "event"
    LOG = "log"
    COMMIT = "commit"
    MANIFEST = "manifest"
    METRIC = "metric"
    CHECK = "check"
    OUTPUT = "output"
    ROLLOUT = "rollout"
    RUNBOOK = "runbook"
    PAST = "past"
    MISSING = "missing"


class Evidence(Value):
    """One thing that was seen, or could not be seen; the excerpt is cleaned and capped."""

    id: str
    kind: EvidenceKind
    source: str = Field(description="Who was asked, such as `snapshot` or `git`.")
    query: str = Field(description="What was asked, so that a person can ask again.")
    at: AwareDatetime
    excerpt: str
    truncated: bool = False


class FieldChange(Value):
    """A field of one object that should hold another value. Old is what evidence shows now."""

    object: ObjectRef
    path: FieldPath
    old: Scalar
    new: Scalar


class Finding(Value):
    """What one analyzer concludes, with the evidence that says so."""

    cause: CauseClass
    object: ObjectRef
    confidence: float = Field(ge=0, le=1)
    summary: str
    evidence: tuple[str, ...]
    change: FieldChange | None = None
    because: str = Field(default="", description="Why this value and no other.")


class Verdict(StrEnum):
    """How sure the investigation is. Inconclusive never acts."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    INCONCLUSIVE = "inconclusive"


class Claim(Value):
    """One thing that is said to be so, and the evidence that shows it."""

    text: str
    evidence: tuple[str, ...]


class Rejection(Value):
    """A cause that checks have ruled out, and what each of them found."""

    cause: CauseClass
    reasons: tuple[str, ...] = ()


class Hypothesis(Value):
    """One explanation with its evidence, and the other explanations that were weaker."""

    attempt: int = Field(ge=1)
    verdict: Verdict
    finding: Finding
    alternatives: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...]
    rejected: tuple[CauseClass, ...] = Field(default=(), description="Ruled out by checks before.")
    rejections: tuple[Rejection, ...] = Field(default=(), description="The same, with the reasons.")
    claims: tuple[Claim, ...] = Field(default=(), description="What a model argues with.")
    disproof: str = Field(default="", description="What would show that it is wrong.")


class HypothesisFormed(Event):
    """The investigation has one explanation that it can point at evidence for."""

    topic: ClassVar[str] = "rca.hypothesis-formed.v1"
    moves_to: ClassVar[RunState | None] = RunState.VALIDATING

    alert: Alert
    hypothesis: Hypothesis
    model_use: ModelUse | None = None


class InvestigationInconclusive(Event):
    """Nothing that was seen explains the alert well enough to act on."""

    topic: ClassVar[str] = "rca.inconclusive.v1"
    moves_to: ClassVar[RunState | None] = RunState.VALIDATING

    alert: Alert
    why: str
    evidence: tuple[Evidence, ...]
    candidates: tuple[Finding, ...] = ()
    model_use: ModelUse | None = None
