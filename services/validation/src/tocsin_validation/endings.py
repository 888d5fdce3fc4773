"""What validation says when there is no plan: each ending with its reason and what was seen."""

from collections.abc import Sequence

from tocsin_contracts import (
    Alert,
    CheckResult,
    CheckVerdict,
    EndReason,
    Event,
    Hypothesis,
    HypothesisRejected,
    PlanDrafted,
    ProposalDropped,
    PullRequestFound,
    Rejection,
    Remark,
    RunEscalated,
    RunFinished,
    RunId,
    RunState,
    RunSuperseded,
)
from tocsin_kit.untrusted import line
from tocsin_validation.converging import Closed, Refused
from tocsin_validation.resolving import Unresolved
from tocsin_validation.standing import Rival


def escalated(
    run_id: RunId,
    alert: Alert,
    reason: EndReason,
    sentence: str,
    *,
    seen: Sequence[str] = (),
    checks: Sequence[CheckResult] = (),
) -> list[Event]:
    """Hand the run to a person, with everything that is known."""
    return [
        RunEscalated(
            run_id=run_id,
            alert=alert,
            reason=reason,
            sentence=sentence,
            seen=tuple(seen),
            checks=tuple(checks),
        ),
        RunFinished(run_id=run_id, outcome=RunState.ESCALATED, reason=reason, sentence=sentence),
    ]


def no_change(run_id: RunId, reason: EndReason, sentence: str) -> list[Event]:
    """End the run because there is nothing left to change."""
    return [
        RunFinished(run_id=run_id, outcome=RunState.NO_CHANGE, reason=reason, sentence=sentence)
    ]


def look_again(
    run_id: RunId, alert: Alert, hypothesis: Hypothesis, checks: Sequence[CheckResult]
) -> list[Event]:
    """Send the hypothesis back with the reasons; what was ruled out stays ruled out."""
    cause = hypothesis.finding.cause
    reasons = tuple(f"{c.check}: {c.detail}" for c in checks if c.verdict is CheckVerdict.FAIL)
    return [
        HypothesisRejected(
            run_id=run_id,
            alert=alert,
            attempt=hypothesis.attempt,
            rejected=(*hypothesis.rejected, cause),
            checks=tuple(checks),
            rejections=(*hypothesis.rejections, Rejection(cause=cause, reasons=reasons)),
        )
    ]


def look_afresh(
    run_id: RunId, alert: Alert, hypothesis: Hypothesis, checks: Sequence[CheckResult]
) -> list[Event]:
    """Have all of it looked at once more, as it may have changed since; nothing is ruled out."""
    return [
        HypothesisRejected(
            run_id=run_id,
            alert=alert,
            attempt=hypothesis.attempt,
            rejected=hypothesis.rejected,
            checks=tuple(checks),
            rejections=hypothesis.rejections,
        )
    ]


def unresolved(run_id: RunId, alert: Alert, found: Unresolved) -> list[Event]:
    """End a run whose change has no place, or needs none."""
    if found.fixed:
        return no_change(run_id, found.reason, found.sentence)
    return escalated(run_id, alert, found.reason, found.sentence, seen=found.trace)


def closed(run_id: RunId, decision: Closed) -> list[Event]:
    """End the run because a person has said no, and say how long that holds."""
    pull = decision.pull
    who = f" by {line(pull.ended_by)}" if pull.ended_by else ""
    return [
        RunFinished(
            run_id=run_id,
            outcome=RunState.SUPPRESSED,
            reason=EndReason.CLOSED_BY_PERSON,
            sentence=f"{pull.url} of this issue was closed{who} without a merge: nothing else is "
            f"proposed before {decision.until:%Y-%m-%d %H:%M} UTC.",
            reopens_at=decision.until,
        )
    ]


def refused(run_id: RunId, decision: Refused) -> list[Event]:
    """End the run because a person has said no to a plan of its issue, and say until when."""
    return [
        RunFinished(
            run_id=run_id,
            outcome=RunState.SUPPRESSED,
            reason=EndReason.DENIED_BY_APPROVER,
            sentence="A person said no to the last plan for this issue: nothing else is proposed "
            f"before {decision.until:%Y-%m-%d %H:%M} UTC.",
            reopens_at=decision.until,
        )
    ]


def rivalled(run_id: RunId, alert: Alert, rival: Rival) -> list[Event]:
    """End the run in favour of another; where that one wants something else, a person chooses."""
    if not rival.same_issue:
        sentence = (
            f"Run {rival.run_id} has a plan of its own for {rival.thing}, for another cause. "
            "Only one of them can be right."
        )
        return escalated(run_id, alert, EndReason.CONFLICTING_PLAN, sentence)
    why = f"it looks after {rival.thing} already"
    return [
        RunSuperseded(run_id=run_id, alert=alert, into=rival.run_id, why=why),
        RunFinished(
            run_id=run_id,
            outcome=RunState.SUPERSEDED,
            reason=EndReason.SUPERSEDED_BY_RUN,
            sentence=f"Run {rival.run_id} goes on with it: {why}.",
        ),
    ]


def dropped(run_id: RunId, remark: Remark, why: str) -> list[Event]:
    """Say that nothing comes of what a comment asked for; the pull request stays as it is."""
    return [ProposalDropped(run_id=run_id, remark=remark, why=why)]


def kept_open(run_id: RunId, hypothesis: Hypothesis, told: Sequence[Event]) -> Sequence[Event]:
    """Return what is told; of a comment's proposal that is no plan, only why it is dropped."""
    if hypothesis.remark is None or any(isinstance(one, PlanDrafted) for one in told):
        return told
    return dropped(run_id, hypothesis.remark, " ".join(filter(None, map(why, told))))


def why(told: Event) -> str:
    """Return why there is no plan, of an event that says so."""
    match told:
        case ProposalDropped(why=why) | PullRequestFound(why=why):
            return why
        case RunFinished(sentence=sentence):
            return sentence
        case HypothesisRejected(checks=checks):
            failed = (one for one in checks if one.verdict is CheckVerdict.FAIL)
            return "; ".join(f"{one.check}: {one.detail}" for one in failed)
    return ""
