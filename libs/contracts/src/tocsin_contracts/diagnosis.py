"""Evidence, findings and the hypothesis they support."""

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.base import Value
from tocsin_contracts.causes import CauseClass
from tocsin_contracts.event import Event
from tocsin_contracts.forge import Remark
from tocsin_contracts.states import RunState
from tocsin_contracts.trees import Tree
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


class Period(Value):
    """A stretch of time; both ends belong to it."""

    start: AwareDatetime
    end: AwareDatetime


class Evidence(Value):
    """One thing that was seen, or could not be seen; the excerpt is cleaned and capped."""

    id: str
    kind: EvidenceKind
    source: str = Field(description="Who was asked, such as `snapshot` or `git`.")
    query: str = Field(description="What was asked, so that a person can ask again.")
    window: Period | None = Field(default=None, description="Which time it tells about.")
    at: AwareDatetime
    excerpt: str
    ref: str = Field(default="", description="Where all of it is: an object, a file, a link.")
    truncated: bool = Field(default=False, description="Whether the excerpt is not all of it.")
    redacted: bool = Field(default=False, description="Whether the excerpt hides a secret.")


class ChangeOp(StrEnum):
    """What is done to a field."""

    SET = "set"
    INSERT = "insert"
    APPEND = "append"
    DELETE = "delete"


class FieldChange(Value):
    """A field of one object that should be another. Old is what evidence shows now.

    `set` puts `new` in place of `old`. `insert` adds a field that is not there, and the mappings
    around it. `append` adds an item to the list at the path, which holds `old`. `delete` takes
    away the field or list item at the path, which holds `old`. Values that are no scalars stand in
    `old_tree` and `new_tree`.
    """

    object: ObjectRef
    path: FieldPath
    old: Scalar = None
    new: Scalar = None
    op: ChangeOp = ChangeOp.SET
    old_tree: Tree = None
    new_tree: Tree = None
    undo_of: str = Field(default="", description="The commit that this undoes, in full.")

    @property
    def before(self) -> Tree:
        """What evidence shows there now; None for nothing."""
        return self.old if self.old_tree is None else self.old_tree

    @property
    def after(self) -> Tree:
        """What is set, inserted or appended; None for nothing."""
        return self.new if self.new_tree is None else self.new_tree


class Considered(Value):
    """Something else that was thought of, and why it was not chosen."""

    what: str
    why_not: str


class Finding(Value):
    """What one analyzer concludes, with the evidence that says so."""

    cause: CauseClass
    object: ObjectRef
    confidence: float = Field(ge=0, le=1)
    summary: str
    evidence: tuple[str, ...]
    change: FieldChange | None = None
    because: str = Field(default="", description="Why this value and no other.")
    further: tuple[FieldChange, ...] = Field(
        default=(), description="What has to change with it, in this order: all of it or nothing."
    )
    considered: tuple[Considered, ...] = Field(
        default=(), description="Other values that were thought of for the change."
    )

    @property
    def changes(self) -> tuple[FieldChange, ...]:
        """Everything that would cure it; empty where no field would."""
        return (self.change, *self.further) if self.change else ()


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


class Amendment(Value):
    """Other values that an approver gave to a plan while it waited."""

    by: str
    plan_hash: str = Field(description="Of the plan that they were given to.")
    changes: tuple[str, ...] = Field(description="Each field with its old and its new value.")
    reason: str = ""


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
    remark: Remark | None = Field(
        default=None, description="The comment that asked for its change."
    )
    amendments: tuple[Amendment, ...] = Field(
        default=(), description="What approvers changed about its change, the first one first."
    )


class HypothesisFormed(Event):
    """The investigation has one explanation that it can point at evidence for."""

    topic: ClassVar[str] = "rca.hypothesis-formed.v1"
    moves_to: ClassVar[RunState | None] = RunState.VALIDATING

    alert: Alert
    hypothesis: Hypothesis
    model_use: ModelUse | None = None
    model_use_before: ModelUse | None = Field(
        default=None, description="What the attempts before this one used."
    )


class InvestigationInconclusive(Event):
    """Nothing that was seen explains the alert well enough to act on."""

    topic: ClassVar[str] = "rca.inconclusive.v1"
    moves_to: ClassVar[RunState | None] = RunState.VALIDATING

    alert: Alert
    why: str
    evidence: tuple[Evidence, ...]
    candidates: tuple[Finding, ...] = ()
    model_use: ModelUse | None = None
    model_use_before: ModelUse | None = Field(
        default=None, description="What the attempts before this one used."
    )
