"""What is done while nobody has decided: people are reminded, and then others are asked too."""

from collections.abc import Sequence
from datetime import datetime

from tocsin_action.asking import Asking
from tocsin_action.ports import Approvals, Clock, Reader, Timers
from tocsin_contracts import (
    ApprovalEscalated,
    ApprovalRecorded,
    ApprovalReminded,
    Event,
    IncidentOpened,
    PlanDrafted,
)
from tocsin_contracts.views import ApprovalState
from tocsin_kit.approvals import Approval
from tocsin_kit.run_view import Run
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind


def timers(opened: Approval, asking: Asking, team: str) -> tuple[Timer, ...]:
    """Return when to look at an approval again; the same approval has the same timers."""
    due = {
        TimerKind.APPROVAL_EXPIRY: opened.expires_at,
        TimerKind.APPROVAL_REMINDER: opened.expires_at - asking.patience / 2,
    }
    began = opened.expires_at - asking.patience
    number = asking.next_group(team, opened.approvers)
    further = escalation(opened, asking, team, number, began)
    return (
        *(
            Timer(kind=kind, run_id=opened.run_id, due_at=at, about=opened.plan_hash)
            for kind, at in due.items()
        ),
        *([further] if further else []),
    )


def escalation(
    opened: Approval, asking: Asking, team: str, number: int, after: datetime
) -> Timer | None:
    """Return when the group of a number gets its turn; None if it has none in time.

    Of a run only the newest timer of a kind is kept, so each group's is set when the last is due.
    """
    due = after + asking.escalation
    if due >= opened.expires_at or not asking.group(team, number):
        return None
    about = f"{opened.plan_hash}.{number}"
    kind = TimerKind.APPROVAL_ESCALATION
    return Timer(kind=kind, run_id=opened.run_id, due_at=due, about=about)


class Waiting:
    """Looks at approvals that wait; a late timer finds nothing to do."""

    def __init__(
        self,
        approvals: Approvals,
        runs: Reader,
        clock: Clock,
        asking: Asking,
        *,
        timers: Timers,
    ) -> None:
        self._approvals = approvals
        self._timers = timers
        self._asking = asking
        self._runs = runs
        self._clock = clock

    async def on_approval_recorded(self, event: ApprovalRecorded) -> None:
        """Keep who has said yes with the run's facts; more people have to, so nothing is done."""

    async def on_half_time(self, timer: Timer) -> Sequence[Event]:
        """Remind people of a plan that they have not decided, unless their time is over too."""
        approval, run = await self._waits(timer, timer.about)
        drafted = run.fact(PlanDrafted) if run else None
        if approval is None or drafted is None:
            return []
        return [
            ApprovalReminded(
                run_id=timer.run_id,
                approval_id=approval.id,
                plan_hash=approval.plan_hash,
                title=drafted.plan.title,
                expires_at=approval.expires_at,
            )
        ]

    async def on_escalation(self, timer: Timer) -> Sequence[Event]:
        """Let the next group of approvers decide too, and tell them."""
        plan_hash, _, number = timer.about.partition(".")
        approval, run = await self._waits(timer, plan_hash)
        drafted = run.fact(PlanDrafted) if run else None
        opened = run.fact(IncidentOpened) if run else None
        team = opened.team if opened else ""
        more = self._asking.group(team, int(number))
        if approval is None or drafted is None or not more:
            return []
        later = escalation(approval, self._asking, team, int(number) + 1, timer.due_at)
        if later:
            await self._timers.set_timer(later)
        state = await self._approvals.widen(timer.run_id, plan_hash, more)
        if state is not ApprovalState.PENDING:
            return []
        return [
            ApprovalEscalated(
                run_id=timer.run_id,
                approval_id=approval.id,
                plan_hash=plan_hash,
                title=drafted.plan.title,
                approvers=more,
                expires_at=approval.expires_at,
            )
        ]

    async def _waits(self, timer: Timer, plan_hash: str) -> tuple[Approval | None, Run | None]:
        """Return an approval that still waits, of the newest plan, and its run."""
        approval = await self._approvals.get(timer.run_id, plan_hash)
        run = await self._runs.get(timer.run_id)
        drafted = run.fact(PlanDrafted) if run else None
        if approval is None or drafted is None or drafted.plan.plan_hash != plan_hash:
            return None, run
        late = approval.expires_at <= self._clock.now()
        waits = approval.state is ApprovalState.PENDING and not late
        return (approval if waits else None), run
