"""What stands around the gate in memory: approvals that can be opened and closed, and timers."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from tocsin_contracts import RunId
from tocsin_contracts.views import ApprovalState
from tocsin_kit.approvals import Approval, approval_id
from tocsin_kit.timers import Timer
from tocsin_testing.fakes import FakeApprovals, Outage


class FakeGate(FakeApprovals):
    """Approval records as action sees them: it opens and closes what people decide."""

    async def open(
        self, run_id: RunId, plan_hash: str, approvers: Iterable[str], expires_at: datetime
    ) -> Approval:
        """Open the approval of a plan, or return it as it stands."""
        self._answer()
        made = Approval(
            id=approval_id(run_id, plan_hash),
            run_id=run_id,
            plan_hash=plan_hash,
            state=ApprovalState.PENDING,
            expires_at=expires_at,
            approvers=tuple(approvers),
        )
        return self.approvals.setdefault((run_id, plan_hash), made)

    async def expire(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval whose time is over."""
        found = await self.get(run_id, plan_hash)
        if found and found.expires_at > self._clock.now():
            return found.state
        return await self._end(run_id, plan_hash, ApprovalState.EXPIRED)

    async def withdraw(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval at once."""
        return await self._end(run_id, plan_hash, ApprovalState.WITHDRAWN)

    async def _end(
        self, run_id: RunId, plan_hash: str, state: ApprovalState
    ) -> ApprovalState | None:
        found = await self.get(run_id, plan_hash)
        if found is None or found.state is not ApprovalState.PENDING:
            return found.state if found else None
        self.approvals[run_id, plan_hash] = replace(found, state=state)
        return state


class FakeTimers(Outage):
    """Timers that were set; none of them ever rings by itself."""

    def __init__(self) -> None:
        self.set: list[Timer] = []

    async def set_timer(self, timer: Timer) -> None:
        """Keep the timer, unless one of its id is known."""
        self._answer()
        if timer.id not in {known.id for known in self.set}:
            self.set.append(timer)
