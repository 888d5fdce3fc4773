"""How a run ends, in words that a person can read; pure."""

from datetime import datetime

from tocsin_contracts import (
    Decision,
    EndReason,
    Plan,
    PlanDrafted,
    PlanStale,
    PullRequestMerged,
    RunFinished,
    RunId,
    RunState,
)
from tocsin_contracts.views import ApprovalState
from tocsin_kit.run_view import Run
from tocsin_kit.untrusted import line


def ended(run_id: RunId, outcome: RunState, reason: EndReason, sentence: str) -> RunFinished:
    """A run ends, and says why."""
    return RunFinished(run_id=run_id, outcome=outcome, reason=reason, sentence=sentence)


def gone(run_id: RunId, url: str) -> RunFinished:
    """Nothing more will come of a pull request that nobody can see."""
    sentence = (
        f"{url} is not there any more: it was deleted, or its repository moved. "
        "A person has to go on."
    )
    return ended(run_id, RunState.ESCALATED, EndReason.CLOSED_BY_PERSON, sentence)


def denied(run_id: RunId, decision: Decision, until: datetime) -> RunFinished:
    """A no is final, and holds for the issue for a while."""
    sentence = f"{decision.by} said no: {line(decision.reason, 500) or 'no reason given'}."
    if until > decision.decided_at:
        sentence += f" Nothing is proposed for this issue before {until:%Y-%m-%d %H:%M} UTC."
    return RunFinished(
        run_id=run_id,
        outcome=RunState.REJECTED,
        reason=EndReason.DENIED_BY_APPROVER,
        sentence=sentence,
        reopens_at=until,
    )


def expired(run_id: RunId) -> RunFinished:
    """Nobody said anything."""
    sentence = "Nobody decided in time, so nothing was written."
    return ended(run_id, RunState.EXPIRED, EndReason.APPROVAL_EXPIRED, sentence)


def replaced(drafted: PlanDrafted, decision: Decision) -> PlanStale:
    """A yes to another plan than the run has: what it has is looked at and asked about again."""
    return PlanStale(
        run_id=drafted.run_id,
        alert=drafted.alert,
        hypothesis=drafted.hypothesis,
        plan_hash=drafted.plan.plan_hash,
        why=f"a yes came to plan {decision.plan_hash[:12]}, which had been replaced",
        issue_key=drafted.plan.issue_key,
    )


def decided_before(run_id: RunId, plan: Plan, state: ApprovalState) -> RunFinished:
    """A plan that was decided is not put to people again."""
    sentence = (
        f"Plan {plan.short_hash} came up again after it was {state.value}: what was decided could "
        "not be carried out as it stands. Nothing was written."
    )
    return ended(run_id, RunState.ESCALATED, EndReason.CHECKS_FAILED, sentence)


def cleared(run: Run, reopens_at: datetime | None) -> RunFinished:
    """What was merged before stays, and an undo that waits is not wanted any more.

    What fires again belongs to a new run, from `reopens_at` on.
    """
    merged = run.fact(PullRequestMerged)
    outcome = RunState.RESOLVED if merged else RunState.NO_CHANGE
    sentence = (
        f"The alerts cleared after {merged.url} was merged; its undo was not needed."
        if merged
        else "The alerts cleared before anything was changed."
    )
    return RunFinished(
        run_id=run.id,
        outcome=outcome,
        reason=EndReason.ALERT_CLEARED,
        sentence=sentence,
        reopens_at=reopens_at,
    )
