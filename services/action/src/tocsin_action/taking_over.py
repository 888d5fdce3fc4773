"""A person takes a run over that nobody has decided about: it ends with everything known."""

from collections.abc import Iterator, Sequence

from tocsin_action.followed import still_open
from tocsin_action.ports import Approvals, Reader
from tocsin_contracts import (
    AlertAccepted,
    BudgetExhausted,
    EndReason,
    Event,
    HypothesisFormed,
    HypothesisRejected,
    InvestigationInconclusive,
    PlanDrafted,
    RunEscalated,
    RunFinished,
    RunState,
)
from tocsin_contracts.operations import RunEscalationRequested
from tocsin_contracts.views import ApprovalState
from tocsin_kit.errors import TransientError
from tocsin_kit.run_view import Run
from tocsin_kit.untrusted import line

UNDECIDED = (
    RunState.RECEIVED,
    RunState.INVESTIGATING,
    RunState.VALIDATING,
    RunState.AWAITING_APPROVAL,
)
"""Where a run can be taken over: from a yes on it is carried out, or cancelled."""

MOST_SEEN = 20


class TakingOver:
    """Ends runs on the word of a person who goes on with them."""

    def __init__(self, approvals: Approvals, runs: Reader) -> None:
        self._approvals = approvals
        self._runs = runs

    async def on_run_escalation_requested(self, event: RunEscalationRequested) -> Sequence[Event]:
        """Withdraw what waits, and hand over what is known; a yes before that is carried out."""
        run = await self._runs.get(event.run_id)
        accepted = run.fact(AlertAccepted) if run else None
        if run is None or accepted is None:
            raise TransientError(f"run {event.run_id!r}: its record is not made yet")
        drafted = run.fact(PlanDrafted)
        if drafted:
            state = await self._approvals.withdraw(run.id, drafted.plan.plan_hash)
            if state is ApprovalState.GRANTED:
                return []
        rejected = run.fact(HypothesisRejected)
        checked = drafted.plan if drafted else rejected
        sentence = _sentence(event, run)
        return [
            RunEscalated(
                run_id=run.id,
                alert=accepted.alert,
                reason=EndReason.TAKEN_OVER,
                sentence=sentence,
                seen=tuple(_seen(run))[:MOST_SEEN],
                checks=checked.checks if checked else (),
            ),
            RunFinished(
                run_id=run.id,
                outcome=RunState.ESCALATED,
                reason=EndReason.TAKEN_OVER,
                sentence=sentence,
            ),
        ]


def _sentence(event: RunEscalationRequested, run: Run) -> str:
    why = f": {line(event.reason, 500)}" if event.reason else ""
    opened = still_open(run)
    left = f" {opened.url} stays open." if opened else ""
    return f"{event.by} took the run over{why}.{left}"


def _seen(run: Run) -> Iterator[str]:
    """Yield what is known, the most telling first."""
    formed, drafted = run.fact(HypothesisFormed), run.fact(PlanDrafted)
    rejected, unclear = run.fact(HypothesisRejected), run.fact(InvestigationInconclusive)
    paused = run.fact(BudgetExhausted)
    if formed:
        finding = formed.hypothesis.finding
        yield f"{formed.hypothesis.verdict.value}: {finding.summary}"
        cited = [one for one in formed.hypothesis.evidence if one.id in finding.evidence]
        yield from (f"{one.query}: {line(one.excerpt, 200)}" for one in cited)
    for one in rejected.rejections if rejected else ():
        yield f"ruled out, {one.cause.value}: {'; '.join(one.reasons)}"
    if unclear:
        yield f"no cause to act on: {unclear.why}"
        yield from (f"came close: {one.summary}" for one in unclear.candidates)
    if drafted:
        yield f"proposed, and not decided: {drafted.plan.title}"
    if paused and paused.so_far:
        yield f"said so far: {line(paused.so_far, 500)}"
