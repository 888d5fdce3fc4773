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
    Rejection,
    RunEscalated,
    RunFinished,
    RunId,
    RunState,
)
from tocsin_validation.resolving import Unresolved


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
    reasons = tuple(f"{c.check}: {c.detail}" for c in checks if c.verdict is not CheckVerdict.PASS)
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


def unresolved(run_id: RunId, alert: Alert, found: Unresolved) -> list[Event]:
    """End a run whose change has no place, or needs none."""
    if found.fixed:
        return no_change(run_id, found.reason, found.sentence)
    return escalated(run_id, alert, found.reason, found.sentence, seen=found.trace)
