"""What the routes and the pages do: list and show runs, and decide about them."""

from datetime import UTC, datetime

from tocsin_contracts import ApprovalRequested, RunCancelRequested, RunId, RunState
from tocsin_contracts.views import (
    ApprovalState,
    BudgetAnswerView,
    CancelView,
    DecisionKind,
    DecisionView,
    RunPage,
    RunView,
)
from tocsin_gateway import budgets, refusals, views
from tocsin_gateway.budgets import BudgetAnswer
from tocsin_gateway.ports import (
    SUMMED_UP,
    Approvals,
    Canceller,
    LateNews,
    Publisher,
    Runs,
    Tallies,
    Verdict,
)
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.approvals import Redeemed, Refusal
from tocsin_kit.run_view import Run


class Api:
    """Answers the routes from the run store; decisions go through the approval records."""

    def __init__(
        self,
        runs: Runs,
        approvals: Approvals,
        canceller: Canceller,
        publisher: Publisher,
        *,
        tallies: Tallies,
        news: LateNews,
    ) -> None:
        self._runs = runs
        self._approvals = approvals
        self._canceller = canceller
        self._publisher = publisher
        self._tallies = tallies
        self._news = news

    async def list(self, state: RunState | None, limit: int) -> RunPage:
        """Return the newest runs; of those in one state, if one is given."""
        runs = await self._runs.recent(limit, state, kinds=SUMMED_UP)
        tallies = await self._tallies.many([(views.incident_key(run), run.id) for run in runs])
        lines = map(views.summary, runs, tallies)
        return RunPage(runs=tuple(line for line in lines if line))

    async def show(self, run_id: str) -> RunView:
        """Return one run with all that is known about it."""
        run = await self._run(run_id)
        asked = run.fact(ApprovalRequested)
        approval = await self._approvals.get(run.id, asked.plan.plan_hash) if asked else None
        tally = await self._tallies.one(views.incident_key(run), run.id)
        view = views.detail(run, approval, tally, await self._news.of(run.id))
        if view is None:
            raise refusals.unknown_run(run_id)
        return view

    async def decide(
        self,
        run_id: str,
        answer: DecisionKind,
        verdict: Verdict,
        by: str,
        *,
        surface: str = "gateway",
    ) -> DecisionView:
        """Take a decision about exactly the plan that was looked at."""
        run = await self._run(run_id)
        asked = run.fact(ApprovalRequested)
        if asked is None:
            raise RefusedError(409, "the run waits for no decision", f"it is {run.state.value}")
        if asked.plan.plan_hash != verdict.plan_hash:
            raise refusals.refused(Refusal.PLAN_CHANGED)
        taken = await self._approvals.decide(
            run_id=run.id,
            plan_hash=verdict.plan_hash,
            surface=surface,
            answer=answer,
            by=by,
            reason=verdict.reason,
            break_glass=verdict.break_glass,
        )
        if taken.refusal:
            raise await self._explained(taken, run.id, verdict.plan_hash)
        return DecisionView(
            run_id=run.id,
            decision=taken.state or ApprovalState(answer),
            by=taken.decided_by,
            at=taken.decided_at or datetime.now(UTC),
            given=taken.given,
            required=taken.required,
        )

    async def cancel(self, run_id: str, reason: str, by: str) -> CancelView:
        """Ask a run to stop; whoever works on it hears within a lease's renewal."""
        run = await self._run(run_id)
        if run.state.terminal:
            raise RefusedError(409, f"the run has ended: {run.state.value}", "nothing to stop")
        event = RunCancelRequested(run_id=run.id, by=by, reason=reason)
        unique = f"{run.id}:cancel:{event.at.isoformat()}"
        told = event.caused_by(unique, "gateway").model_copy(update={"cause": ""})
        await self._publisher.publish(told)  # it ends the run; the flag only stops work sooner
        await self._canceller.cancel(run.id)
        return CancelView(run_id=run.id, by=by, at=event.at)

    async def extend(self, run_id: str, answer: BudgetAnswer, by: str) -> BudgetAnswerView:
        """Answer an investigation that waits for a larger budget."""
        told = budgets.answered(await self._run(run_id), answer, by)
        await self._publisher.publish(told)
        return BudgetAnswerView(run_id=told.run_id, granted=told.granted, by=by, at=told.at)

    async def _run(self, run_id: str) -> Run:
        run = await self._runs.get(RunId(run_id))
        if run is None:
            raise refusals.unknown_run(run_id)
        return run

    async def _explained(self, taken: Redeemed, run_id: RunId, plan_hash: str) -> RefusedError:
        """Say who decided and when, or who could decide."""
        approval = await self._approvals.get(run_id, plan_hash)
        if taken.refusal is Refusal.ALREADY and taken.state:
            return refusals.already(taken, taken.state)
        if approval is None:
            return refusals.refused(taken.refusal or Refusal.UNKNOWN)
        refusal = taken.refusal or Refusal.UNKNOWN
        return refusals.refused(
            refusal,
            approvers=", ".join(refusals.who_can(refusal, approval)),
            needs=approval.needs,
        )
