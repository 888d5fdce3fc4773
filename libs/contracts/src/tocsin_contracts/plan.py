"""The plan: typed edits, the exact diff, and everything its hash binds."""

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.base import Value
from tocsin_contracts.causes import CauseClass
from tocsin_contracts.diagnosis import (
    Considered,
    FieldChange,
    FieldPath,
    Hypothesis,
    Rejection,
    Scalar,
)
from tocsin_contracts.event import Event
from tocsin_contracts.failures import FailureCode
from tocsin_contracts.owners import FileOwners
from tocsin_contracts.place import Place
from tocsin_contracts.states import EndReason, RunState
from tocsin_contracts.trees import Tree
from tocsin_contracts.workload import ObjectRef


class EditOp(StrEnum):
    """What an edit does to a file."""

    SET = "set"
    CREATE = "create"
    INSERT = "insert"
    APPEND = "append"
    DELETE = "delete"


class Edit(Value):
    """One change to one file: a field of one document, or a whole new file.

    `create` takes the text in `new` alone and serves the proposal file. The others need `document`
    and `path`, and mean what they mean for a FieldChange; what is old is what the file holds, and
    guards against one that moved on: for `insert` nothing, for `append` the list.
    """

    file: str
    op: EditOp = EditOp.SET
    document: ObjectRef | None = None
    path: FieldPath = ()
    old: Scalar = None
    new: Scalar = None
    old_tree: Tree = None
    new_tree: Tree = None
    undo_of: str = Field(default="", description="The commit that this exactly undoes, in full.")
    renders: FieldChange | None = Field(
        default=None, description="Of a value of a chart: the change of an object that it makes."
    )

    @property
    def of(self) -> ObjectRef | None:
        """The object that changes in the cluster, if one does."""
        return self.renders.object if self.renders else self.document

    @property
    def at(self) -> FieldPath:
        """The field of that object."""
        return self.renders.path if self.renders else self.path

    @property
    def before(self) -> Tree:
        """What the file holds there; None for nothing."""
        return self.old if self.old_tree is None else self.old_tree

    @property
    def after(self) -> Tree:
        """What is set, inserted, appended or created; None for nothing."""
        return self.new if self.new_tree is None else self.new_tree


class FileChange(Value):
    """One file before and after, by hash; sha256_before is empty for a new file."""

    path: str
    mode: str
    sha256_before: str
    sha256_after: str


class Intent(StrEnum):
    """What the plan does to the pull requests that exist.

    `open` makes one on the base; `increment` adds a commit to the head of the one that is open.
    """

    OPEN = "open"
    INCREMENT = "increment"


class Risk(StrEnum):
    """How much care the decision needs."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class CheckVerdict(StrEnum):
    """Unknown never counts as pass."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    UNKNOWN = "unknown"


class CheckSeverity(StrEnum):
    """How much hangs on a check: people should know, it may not help, or it could do harm."""

    MINOR = "minor"
    MAJOR = "major"
    CRITICAL = "critical"


class CheckResult(Value):
    """What one check says about a plan, and why."""

    check: str
    verdict: CheckVerdict
    detail: str
    severity: CheckSeverity | None = None
    code: FailureCode | None = Field(default=None, description="Of what did not pass.")
    action: str = Field(default="", description="What a person can do about it.")


class Target(Value):
    """The one place a change belongs to, and how it was found."""

    host: str
    repo: str
    base_branch: str
    file: str
    document: ObjectRef | None = Field(default=None, description="None for a new file.")
    trace: tuple[str, ...] = Field(description="What was asked, what matched and why, in order.")
    place: Place | None = Field(
        default=None, description="What it is deployed from; None where only a search found it."
    )
    chosen_by: str = Field(
        default="", description="The model that broke a tie of places; empty if there was none."
    )


class Plan(Value):
    """A change a person can approve. Nothing about it moves after `plan_hash` is computed."""

    issue_key: str
    target: Target
    base_sha: str
    head_branch: str
    parent_sha: str
    intent: Intent = Intent.OPEN
    edits: tuple[Edit, ...]
    files: tuple[FileChange, ...]
    diff: str
    title: str
    body: str
    risk: Risk
    checks: tuple[CheckResult, ...]
    policy_version: str
    effects: tuple[str, ...] = Field(
        default=(), description="What changes in the cluster, a sentence each."
    )
    risk_reasons: tuple[str, ...] = Field(default=(), description="Why the risk is what it is.")
    alternatives: tuple[Considered, ...] = Field(
        default=(), description="Other values and other causes, the nearest first."
    )
    owners: tuple[FileOwners, ...] = Field(
        default=(), description="Of its files at the base, where CODEOWNERS names any."
    )
    plan_hash: str = ""

    @property
    def short_hash(self) -> str:
        """The first 12 hex digits, which every rendering shows."""
        return self.plan_hash[:12]


class PlanDrafted(Event):
    """A change was resolved, checked, drafted and frozen."""

    topic: ClassVar[str] = "validation.plan-drafted.v1"

    alert: Alert
    hypothesis: Hypothesis
    plan: Plan


class FoundPull(StrEnum):
    """What validation finds an open pull request of the same issue to be."""

    SUFFICIENT = "sufficient"
    HANDS_OFF = "hands_off"


class PullRequestFound(Event):
    """A pull request of this issue is open: one with the whole change, or one of people's."""

    topic: ClassVar[str] = "validation.pull-request-found.v1"
    moves_to: ClassVar[RunState | None] = RunState.PR_OPEN

    alert: Alert
    hypothesis: Hypothesis
    found: FoundPull
    repo: str
    number: int
    url: str
    head_branch: str
    commit: str
    title: str
    issue_key: str
    why: str = Field(description="In words that a person can read.")


class HypothesisRejected(Event):
    """The checks contradict the hypothesis; the investigation looks again."""

    topic: ClassVar[str] = "validation.hypothesis-rejected.v1"
    moves_to: ClassVar[RunState | None] = RunState.INVESTIGATING

    alert: Alert
    attempt: int
    rejected: tuple[CauseClass, ...]
    checks: tuple[CheckResult, ...]
    rejections: tuple[Rejection, ...] = Field(default=(), description="With the reasons.")


class RunEscalated(Event):
    """A person has to take over; everything that is known comes along."""

    topic: ClassVar[str] = "validation.escalated.v1"

    alert: Alert
    reason: EndReason
    sentence: str
    seen: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
