"""What is done while nobody has decided: people are reminded."""

from collections.abc import Sequence
from datetime import timedelta

from tocsin_action.ports import Approvals, Clock, Reader
from tocsin_contracts import ApprovalRecorded, ApprovalReminded, Event, PlanDrafted
from tocsin_contracts.views import ApprovalState
from tocsin_kit.approvals import Approval
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind


def timers(opened: Approval, patience: timedelta) -> tuple[Timer, ...]:
    """Return when to look at an approval again; the same approval has the same timers."""
    due = {
        TimerKind.APPROVAL_EXPIRY: opened.expires_at,
        TimerKind.APPROVAL_REMINDER: opened.expires_at - patience / 2,
    }
    return tuple(
        Timer(kind=kind, run_id=opened.run_id, due_at=at, about=opened.plan_hash)
        for kind, at in due.items()
    )


class Waiting:
    """Looks at approvals that wait; a late timer finds nothing to do."""

    def __init__(self, approvals: Approvals, runs: Reader, clock: Clock) -> None:
        self._approvals = approvals
        self._runs = runs
        self._clock = clock

    async def on_approval_recorded(self, event: ApprovalRecorded) -> None:
        """Keep who has said yes with the run's facts; more people have to, so nothing is done."""

    async def on_half_time(self, timer: Timer) -> Sequence[Event]:
        """Remind people of a plan that they have not decided, unless their time is over too."""
        approval = await self._approvals.get(timer.run_id, timer.about)
        run = await self._runs.get(timer.run_id)
        drafted = run.fact(PlanDrafted) if run else None
        if approval is None or drafted is None or drafted.plan.plan_hash != timer.about:
            return []
        late = approval.expires_at <= self._clock.now()
        if late or approval.state is not ApprovalState.PENDING:
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
