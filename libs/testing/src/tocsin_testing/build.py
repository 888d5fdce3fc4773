"""Builders: every value and event in a form that holds, of which a test changes what it is about.

`build.alert(title="X")` is one alert with another title; nothing in it depends on the clock.
"""

from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    AlertSuppressed,
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    BudgetExtended,
    ChangeProposed,
    CommentAnswered,
    CommentIgnored,
    Event,
    FixDeployed,
    FixIneffective,
    FixVerified,
    ForgeEventReceived,
    HypothesisFormed,
    HypothesisRejected,
    IncidentOpened,
    InvestigationInconclusive,
    PlanDrafted,
    PlanStale,
    PlanSuperseded,
    ProposalDropped,
    PullRequestClosed,
    PullRequestCommented,
    PullRequestFound,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
    RelatedAlert,
    RunCancelRequested,
    RunEscalated,
    RunFinished,
    RunState,
    RunSuperseded,
    StormEnded,
    StormStarted,
    derive_id,
)
from tocsin_contracts.operations import (
    DeadLetterDiscarded,
    DeadLetterReplayed,
    RunEscalationRequested,
    RunRerun,
)
from tocsin_contracts.views import ApprovalState
from tocsin_kit.approvals import Approval, approval_id
from tocsin_kit.run_view import Run
from tocsin_testing.event_fields import EVENT_FIELDS
from tocsin_testing.values import (
    NOW,
    RUN,
    Fields,
    alert,
    check,
    decision,
    edit,
    evidence,
    field_change,
    file_change,
    finding,
    hypothesis,
    plan,
    target,
    workload,
)

__all__ = [
    "NOW",
    "RUN",
    "alert",
    "alert_accepted",
    "alert_repeated",
    "alert_resolved",
    "alert_suppressed",
    "approval",
    "approval_denied",
    "approval_escalated",
    "approval_expired",
    "approval_granted",
    "approval_recorded",
    "approval_reminded",
    "approval_requested",
    "budget_exhausted",
    "budget_extended",
    "change_proposed",
    "check",
    "comment_answered",
    "comment_ignored",
    "decision",
    "edit",
    "event",
    "evidence",
    "field_change",
    "file_change",
    "finding",
    "fix_deployed",
    "fix_ineffective",
    "fix_verified",
    "forge_event_received",
    "hypothesis",
    "hypothesis_formed",
    "hypothesis_rejected",
    "incident_opened",
    "investigation_inconclusive",
    "plan",
    "plan_drafted",
    "plan_stale",
    "plan_superseded",
    "proposal_dropped",
    "pull_request_closed",
    "pull_request_commented",
    "pull_request_found",
    "pull_request_merged",
    "pull_request_opened",
    "pull_request_updated",
    "related_alert",
    "run",
    "run_cancel_requested",
    "run_escalated",
    "run_finished",
    "run_superseded",
    "storm_ended",
    "storm_started",
    "target",
    "workload",
]

E = TypeVar("E", bound=Event)


def event(kind: type[E], /, **changes: Any) -> E:
    """Return an event of any type; the same type and run have the same id."""
    run_id = changes.get("run_id", RUN)
    common = {"run_id": run_id, "at": NOW, "producer": "test", "id": derive_id(run_id, kind.topic)}
    return kind(**(common | EVENT_FIELDS[kind](run_id) | changes))


def run(*facts: Event, **changes: Any) -> Run:
    """Return the record of a run that knows these facts; the last that moves it names its state."""
    fields: Fields = {
        "id": facts[0].run_id if facts else RUN,
        "state": next((f.state for f in reversed(facts) if f.state), RunState.RECEIVED),
        "version": len(facts),
        "created_at": NOW,
        "updated_at": NOW,
        "cancel_requested": False,
        "facts": {fact.topic: fact for fact in facts},
    }
    return Run(**(fields | changes))


def related_alert(**changes: Any) -> RelatedAlert:
    """Return an alert that joined a run after it was opened."""
    late = {"alert": alert(fingerprint="late", title="HighLatency"), "at": NOW, "why": "one node"}
    return RelatedAlert(**(late | changes))


def approval(**changes: Any) -> Approval:
    """Return the approval of the plan that `plan()` builds; `ana` and `bo` may decide it."""
    drafted = plan()
    fields: Fields = {
        "id": approval_id(RUN, drafted.plan_hash),
        "run_id": RUN,
        "plan_hash": drafted.plan_hash,
        "state": ApprovalState.PENDING,
        "expires_at": NOW + timedelta(hours=4),
        "approvers": ("ana", "bo"),
    }
    return Approval(**(fields | changes))


alert_accepted = partial(event, AlertAccepted)
alert_repeated = partial(event, AlertRepeated)
alert_resolved = partial(event, AlertResolved)
alert_suppressed = partial(event, AlertSuppressed)
approval_denied = partial(event, ApprovalDenied)
approval_escalated = partial(event, ApprovalEscalated)
approval_expired = partial(event, ApprovalExpired)
approval_granted = partial(event, ApprovalGranted)
approval_recorded = partial(event, ApprovalRecorded)
approval_reminded = partial(event, ApprovalReminded)
approval_requested = partial(event, ApprovalRequested)
budget_exhausted = partial(event, BudgetExhausted)
budget_extended = partial(event, BudgetExtended)
run_escalation_requested = partial(event, RunEscalationRequested)
run_rerun = partial(event, RunRerun)
dead_letter_replayed = partial(event, DeadLetterReplayed)
dead_letter_discarded = partial(event, DeadLetterDiscarded)
change_proposed = partial(event, ChangeProposed)
comment_answered = partial(event, CommentAnswered)
comment_ignored = partial(event, CommentIgnored)
fix_deployed = partial(event, FixDeployed)
fix_ineffective = partial(event, FixIneffective)
fix_verified = partial(event, FixVerified)
forge_event_received = partial(event, ForgeEventReceived)
hypothesis_formed = partial(event, HypothesisFormed)
hypothesis_rejected = partial(event, HypothesisRejected)
incident_opened = partial(event, IncidentOpened)
investigation_inconclusive = partial(event, InvestigationInconclusive)
plan_drafted = partial(event, PlanDrafted)
plan_stale = partial(event, PlanStale)
plan_superseded = partial(event, PlanSuperseded)
proposal_dropped = partial(event, ProposalDropped)
pull_request_closed = partial(event, PullRequestClosed)
pull_request_commented = partial(event, PullRequestCommented)
pull_request_found = partial(event, PullRequestFound)
pull_request_merged = partial(event, PullRequestMerged)
pull_request_updated = partial(event, PullRequestUpdated)
pull_request_opened = partial(event, PullRequestOpened)
run_cancel_requested = partial(event, RunCancelRequested)
run_escalated = partial(event, RunEscalated)
run_finished = partial(event, RunFinished)
run_superseded = partial(event, RunSuperseded)
storm_ended = partial(event, StormEnded)
storm_started = partial(event, StormStarted)
