"""What the gateway answers and the command line reads: runs as people look at them."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from tocsin_contracts.alert import Alert, AlertStatus, Severity
from tocsin_contracts.approval import Decision
from tocsin_contracts.base import Value
from tocsin_contracts.budget import Exhausted
from tocsin_contracts.diagnosis import Evidence, Finding, Hypothesis
from tocsin_contracts.incident import Correlation, RelatedAlert
from tocsin_contracts.plan import CheckResult, Plan
from tocsin_contracts.states import EndReason, RunState
from tocsin_contracts.usage import ModelUse
from tocsin_contracts.workload import Workload


class ApprovalState(StrEnum):
    """Where a request for a decision stands."""

    PENDING = "pending"
    GRANTED = "granted"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class DecisionKind(StrEnum):
    """What a person said to a plan."""

    GRANTED = "granted"
    DENIED = "denied"


class MemberView(Value):
    """One alert of a run, as it was told last."""

    fingerprint: str
    title: str
    status: AlertStatus
    severity: Severity
    starts_at: AwareDatetime | None = None
    ends_at: AwareDatetime | None = None
    last_seen: AwareDatetime
    differs: str = Field(default="", description="What tells it from the others, such as its pod.")


class RunSummary(Value):
    """One line of a list of runs; the severity is the highest that any of its alerts had."""

    run_id: str
    state: RunState
    status: str = Field(description="The public name of the state; see RunState.status.")
    phase: str = Field(description="The state's own name, for people who follow the pipeline.")
    title: str
    severity: Severity
    workload: Workload | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    occurrences: int = Field(default=1, ge=1, description="Deliveries attached to the run.")
    first_seen: AwareDatetime | None = Field(default=None, description="Of its deliveries.")
    last_seen: AwareDatetime | None = Field(default=None, description="Of its deliveries.")
    episodes: int = Field(default=1, ge=1, description="Times its alerts began to fire.")
    firing: int = Field(default=1, ge=0, description="Its alerts that fire.")
    resolved: int = Field(default=0, ge=0, description="Its alerts that have cleared.")
    ended: str = Field(default="", description="Why the run ended; empty while it is open.")


class ApprovalView(Value):
    """The request for a decision, and the decision once there is one."""

    id: str
    plan_hash: str
    state: ApprovalState
    expires_at: AwareDatetime
    decided_by: str = ""
    decided_at: AwareDatetime | None = None
    required: int = Field(default=1, ge=1, description="Different people who have to say yes.")
    decisions: tuple[Decision, ...] = Field(default=(), description="The oldest first.")


class PullRequestView(Value):
    """The pull request that carries the plan."""

    repo: str
    url: str
    head_branch: str
    commit: str
    plan_hash: str
    title: str


class BudgetView(Value):
    """The last time that an investigation asked for a larger budget."""

    exhausted: Exhausted
    so_far: str = Field(default="", description="What the agent had said until then.")
    waits: bool = Field(description="Whether nobody has answered yet.")


class InconclusiveView(Value):
    """What an investigation saw that found no cause to act on, and what came closest."""

    why: str
    candidates: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...]


class FinishedView(Value):
    """How the run ended."""

    outcome: RunState
    reason: EndReason
    sentence: str


class TimelineEntry(Value):
    """One fact of the run in a sentence."""

    at: AwareDatetime
    topic: str
    producer: str
    text: str


class TriageView(Value):
    """What was decided about a run when it was new."""

    decisions: tuple[str, ...] = Field(default=(), description="What each step found, in words.")
    superseded_by: str = Field(default="", description="The run that looks after it now.")
    held_by: str = Field(default="", description="Who made the rule that holds it back.")
    held_until: AwareDatetime | None = Field(default=None, description="When that rule ends.")
    team: str = ""
    environment: str = ""
    freeze: str = Field(default="", description="The change freeze that held.")
    related: Correlation | None = Field(
        default=None, description="The open run that may have the same cause, and why."
    )
    joined: tuple[RelatedAlert, ...] = Field(default=(), description="Of runs that it superseded.")


class RunView(RunSummary):
    """Everything that is known about one run; parts are None until they happened."""

    alert: Alert
    incident_parts: dict[str, str] = Field(
        default_factory=dict, description="What its alerts have in common."
    )
    members: tuple[MemberView, ...] = Field(
        default=(), description="The alerts of the newest run of an incident, last told first."
    )
    triage: TriageView | None = None
    budget: BudgetView | None = None
    model_use: ModelUse | None = Field(default=None, description="Of all attempts, if any.")
    hypothesis: Hypothesis | None = None
    inconclusive: InconclusiveView | None = Field(
        default=None, description="What the last attempt saw, if it found no cause to act on."
    )
    checks: tuple[CheckResult, ...] = ()
    plan: Plan | None = None
    approval: ApprovalView | None = None
    pull_request: PullRequestView | None = None
    finished: FinishedView | None = None
    timeline: tuple[TimelineEntry, ...] = ()
    untold: int = Field(default=0, ge=0, description="Older facts of a kind that are not kept.")


class RunPage(Value):
    """The newest runs that match, first one first."""

    runs: tuple[RunSummary, ...]


class DecisionView(Value):
    """The decision that now stands; it is pending after a yes that more people have to say."""

    run_id: str
    decision: ApprovalState
    by: str
    at: AwareDatetime
    given: int = Field(default=1, description="People who have said yes.")
    required: int = Field(default=1, description="People who have to.")


class CancelView(Value):
    """A run was asked to stop."""

    run_id: str
    by: str
    at: AwareDatetime


class BudgetAnswerView(Value):
    """An investigation that waited was answered."""

    run_id: str
    granted: bool
    by: str
    at: AwareDatetime


class ErrorView(Value):
    """What went wrong, and what to do about it."""

    error: str
    hint: str = ""


class DeliveryStatus(StrEnum):
    """What became of one alert of a delivery."""

    OPENED = "opened"
    ATTACHED = "attached"
    RESOLVED = "resolved"
    IGNORED = "ignored"
    SPOOLED = "spooled"


class AlertReceipt(Value):
    """Where one alert of a delivery went; an ignored one has no run, a spooled one none yet."""

    fingerprint: str
    status: DeliveryStatus
    run_id: str = ""
    thread_id: str = ""
    poll_url: str = ""


class DeliveryReceipt(Value):
    """What ingest answers to a delivery: its first run, and a receipt for every alert."""

    status: str
    run_id: str = ""
    thread_id: str = ""
    poll_url: str = ""
    alerts: tuple[AlertReceipt, ...] = ()


class ToolView(Value):
    """A tool that agents could use; of a server that is away there is one, which says why.

    `state` is `offered`, or the reason why the tool is not.
    """

    name: str
    capability: str
    server: str
    state: str
