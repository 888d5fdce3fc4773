"""Whether a change freeze that nobody was told of keeps an approved plan from being written."""

from typing import Protocol

from tocsin_action.overriding import broken
from tocsin_action.ports import Reader
from tocsin_contracts import Alert, ApprovalRequested, IncidentOpened
from tocsin_kit.approval_record import RULE, Approval
from tocsin_kit.run_view import Run
from tocsin_kit.untrusted import line

LONGEST = 300
UNSAID = "nobody says whether a change freeze holds, so no rule may decide"


class Freezes(Protocol):
    """Knows the change freezes that hold."""

    async def now(self, alert: Alert) -> str | None:
        """Return the freeze that holds for an alert, empty without one; None if nobody says."""


class Freezing:
    """Looks when people are asked, and again right before the write; without `freezes` at neither.

    Whoever said yes knowing of a freeze decided about it. One that began since is put to people.
    """

    def __init__(self, runs: Reader, freezes: Freezes | None = None) -> None:
        self._runs = runs
        self._freezes = freezes

    async def told(self, run: Run | None, alert: Alert) -> str:
        """Return what people are told: the freeze of now, or of the run's begin if nobody says."""
        now = await self._freezes.now(alert) if self._freezes else None
        opened = run.fact(IncidentOpened) if run else None
        before = opened.freeze if opened else ""
        return before if now is None else now

    async def stops(self, alert: Alert, approval: Approval) -> str:
        """Return why the plan of a granted approval has to be asked for again; empty if not."""
        if self._freezes is None or broken(approval):
            return ""
        now = await self._freezes.now(alert)
        if now is None:
            return UNSAID if _is_ruled(approval) else ""
        if not now or await self._was_told(now, approval):
            return ""
        return f"a freeze holds that nobody was told of: {line(now, LONGEST)}"

    async def _was_told(self, freeze: str, approval: Approval) -> bool:
        run = await self._runs.get(approval.run_id)
        asked = run.fact(ApprovalRequested) if run else None
        if asked is None or asked.plan.plan_hash != approval.plan_hash:
            return False
        return asked.freeze == freeze


def _is_ruled(approval: Approval) -> bool:
    return any(one.by.startswith(f"{RULE}:") for one in approval.decisions)
