"""Where events meet the action graph."""

from collections.abc import Sequence
from datetime import timedelta

from tocsin_action import endings
from tocsin_action.asking import Asking
from tocsin_action.followed import still_open
from tocsin_action.following import Following
from tocsin_action.freezing import Freezing
from tocsin_action.ports import Approvals, Clock, Reader
from tocsin_action.proposals import Proposals
from tocsin_action.proving import fires_again
from tocsin_action.state import ActionState
from tocsin_contracts import (
    AlertAccepted,
    AlertResolved,
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    EndReason,
    Event,
    IncidentOpened,
    PlanDrafted,
    PullRequestOpened,
    PullRequestUpdated,
    RunCancelRequested,
    RunFinished,
    RunId,
    RunState,
)
from tocsin_contracts.views import ApprovalState
from tocsin_kit.approvals import approval_id
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.graphs import Subgraph
from tocsin_kit.run_view import Run
from tocsin_kit.timers import Timer
from tocsin_kit.untrusted import line

UNMADE = timedelta(minutes=10)
"""How long after its alerts cleared the record of a run may still have to be made."""

CLEARABLE = (
    RunState.RECEIVED,
    RunState.INVESTIGATING,
    RunState.VALIDATING,
    RunState.AWAITING_APPROVAL,
    RunState.PR_OPEN,
    RunState.PR_MERGED,
)
"""Where alerts that cleared end a run: anywhere, but while a pull request is being written."""

FOLLOWED = (RunState.PR_OPEN, RunState.PR_MERGED)
"""Where alerts that cleared are only noted: the pull request, or its merge, is looked at on."""


class Handlers:
    """One method per event that action consumes; what it returns is committed and published."""

    def __init__(
        self,
        graph: Subgraph[ActionState],
        approvals: Approvals,
        runs: Reader,
        clock: Clock,
        following: Following,
        *,
        asking: Asking,
        freezing: Freezing,
    ) -> None:
        self._graph = graph
        self._approvals = approvals
        self._runs = runs
        self._clock = clock
        self._following = following
        self._asking = asking
        self._freezing = freezing
        self._proposals = Proposals(runs)

    async def on_plan_drafted(self, event: PlanDrafted) -> Event:
        """Open the gate and ask people; a plan that was decided before is not asked for again."""
        plan = event.plan
        run = await self._runs.get(event.run_id)
        opened = run.fact(IncidentOpened) if run else None
        team = opened.team if opened else ""
        for amendment in event.hypothesis.amendments:
            await self._approvals.withdraw(event.run_id, amendment.plan_hash)
        await self._graph.run(event.run_id, event.id, _start(event, team))
        approval = await self._approvals.get(event.run_id, plan.plan_hash)
        if approval is None:
            raise TransientError(f"run {event.run_id!r}: the approval vanished; opening it again")
        if approval.state is not ApprovalState.PENDING:
            ending = endings.decided_before(event.run_id, plan, approval.state)
            return await self._proposals.instead(ending)
        return ApprovalRequested(
            run_id=event.run_id,
            approval_id=approval.id,
            expires_at=approval.expires_at,
            alert=event.alert,
            hypothesis=event.hypothesis,
            plan=plan,
            needs=approval.needs,
            freeze=await self._freezing.told(run, event.alert),
            team=team,
            owners=self._asking.owners_of(plan),
        )

    async def on_approval_granted(self, event: ApprovalGranted) -> Event:
        """Apply the plan that was approved, if the record says that it was.

        A yes that was said just as its plan was replaced writes nothing: people are asked again
        about the plan that the run has now.
        """
        drafted = await self._newest(event.run_id)
        if drafted is None:
            raise PermanentError(f"run {event.run_id!r} has no plan, so none was approved")
        if drafted.plan.plan_hash != event.decision.plan_hash:
            return endings.replaced(drafted, event.decision)
        start = _start(drafted)
        start["decided"] = True
        approval = event.decision.approval_id
        state = await self._graph.resume(event.run_id, drafted.id, approval, start)
        answer = state.get("answer")
        if answer is None:
            raise TransientError(f"run {event.run_id!r}: the gate did not open")
        if isinstance(answer, PullRequestOpened | PullRequestUpdated):
            await self._following.start(event.run_id, answer.url, answer.at)
        return await self._proposals.instead(answer)

    async def on_approval_denied(self, event: ApprovalDenied) -> Event:
        """End the run, or only what a comment asked for: a no is final."""
        decision = event.decision
        drafted = await self._newest(event.run_id)
        asked = drafted and drafted.hypothesis.remark
        until = decision.decided_at if asked else self._following.cool_down(decision.decided_at)
        told = await self._proposals.instead(endings.denied(event.run_id, decision, until))
        if drafted and isinstance(told, RunFinished):
            await self._following.refuse(drafted.plan.issue_key, until)
        return told

    async def on_approval_due(self, timer: Timer) -> Sequence[Event]:
        """Expire an approval that nobody decided in time; a late timer finds nothing to do."""
        state = await self._approvals.expire(timer.run_id, timer.about)
        if state is ApprovalState.PENDING:
            raise TransientError("the approval is not due yet by the clock of this machine")
        run = await self._runs.get(timer.run_id)
        asked = run.fact(ApprovalRequested) if run else None
        if state is not ApprovalState.EXPIRED or (asked and asked.plan.plan_hash != timer.about):
            return []
        return [
            ApprovalExpired(
                run_id=timer.run_id,
                approval_id=approval_id(timer.run_id, timer.about),
                plan_hash=timer.about,
            ),
            await self._proposals.instead(endings.expired(timer.run_id)),
        ]

    async def on_alert_resolved(self, event: AlertResolved) -> RunFinished | None:
        """End a run whose alerts have all cleared; a waiting approval is withdrawn.

        A pull request is followed on: whether it is still wanted is for people to say.
        """
        run = await self._runs.get(event.run_id)
        if event.still_firing or run is None:
            return None
        again = fires_again(run, event)
        if again and not await self._is_taken_back(run):
            return None
        if not self._is_made(run, event):
            return None
        if run.state in FOLLOWED or still_open(run):
            await self._following.cleared(run, event.at)
            return None
        if not await self._withdrawn(event.run_id):
            raise TransientError("somebody said yes just before; the pull request comes first")
        return endings.cleared(run, self._clock.now() if again else None)

    async def on_run_cancel_requested(self, event: RunCancelRequested) -> RunFinished:
        """End a run on a person's word, once nobody works on it any more."""
        await self._withdrawn(event.run_id)
        run = await self._runs.get(event.run_id)
        opened = still_open(run) if run else None
        why = f": {line(event.reason, 500)}" if event.reason else ""
        left = f" {opened.url} stays open: close it by hand." if opened else ""
        drafted = run.fact(PlanDrafted) if run and run.state is RunState.APPLYING else None
        if drafted:
            left += f" It was being written to {drafted.plan.head_branch!r}: look what is there."
        return RunFinished(
            run_id=event.run_id,
            outcome=RunState.CANCELLED,
            reason=EndReason.CANCELLED_BY_USER,
            sentence=f"{event.by} stopped the run{why}.{left}",
        )

    def _is_made(self, run: Run, event: AlertResolved) -> bool:
        """Whether a run has its record; one that its receiver had no time to make is waited for."""
        if run.fact(AlertAccepted) is None and self._clock.now() - event.at < UNMADE:
            raise TransientError(f"run {event.run_id!r}: its record is not made yet")
        return run.fact(AlertAccepted) is not None

    async def _newest(self, run_id: RunId) -> PlanDrafted | None:
        run = await self._runs.get(run_id)
        return run.fact(PlanDrafted) if run else None

    async def _is_taken_back(self, run: Run) -> bool:
        """Whether nobody can decide any more: a worker died between that and the end of the run."""
        drafted = run.fact(PlanDrafted)
        approval = drafted and await self._approvals.get(run.id, drafted.plan.plan_hash)
        return bool(approval and approval.state is ApprovalState.WITHDRAWN)

    async def _withdrawn(self, run_id: RunId) -> bool:
        """Close the waiting approval; False when somebody has said yes to it already."""
        drafted = await self._newest(run_id)
        if drafted is None:
            return True
        state = await self._approvals.withdraw(run_id, drafted.plan.plan_hash)
        return state is not ApprovalState.GRANTED


def _start(event: PlanDrafted, team: str = "") -> ActionState:
    return {
        "run_id": event.run_id,
        "alert": event.alert,
        "hypothesis": event.hypothesis,
        "plan": event.plan,
        "team": team,
    }
