"""Approve with a change: an approver gives other values to the plan that waits."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from tocsin_contracts import ApprovalRequested, RunId, RunState
from tocsin_contracts.amending import AmendmentRequested, AmendmentView, NewValue
from tocsin_contracts.roles import Role
from tocsin_contracts.views import ApprovalState
from tocsin_gateway import refusals
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.ports import Approvals, Publisher, Runs
from tocsin_gateway.refusals import RefusedError
from tocsin_kit import revaluing
from tocsin_kit.approvals import Approval, Refusal

Approver = Annotated[Principal, Depends(needs(Role.APPROVER))]


class Amend(BaseModel):
    """Other values for edits of the plan with this hash."""

    plan_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="The plan that was looked at.")
    changes: tuple[NewValue, ...] = Field(min_length=1, max_length=20)
    reason: str = Field(default="", max_length=1000)


class Amendments:
    """Tells validation what people want; a new plan, or why there is none, follows as an event."""

    def __init__(self, runs: Runs, approvals: Approvals, publisher: Publisher) -> None:
        self._runs = runs
        self._approvals = approvals
        self._publisher = publisher

    async def asked(self, run_id: str) -> ApprovalRequested:
        """Return the question of a run that waits for an answer; RefusedError where none does."""
        run = await self._runs.get(RunId(run_id))
        if run is None:
            raise refusals.unknown_run(run_id)
        asked = run.fact(ApprovalRequested)
        if asked is None or run.state is not RunState.AWAITING_APPROVAL:
            raise refusals.refused(Refusal.NOT_WAITING)
        return asked

    async def ask(
        self, run_id: str, wish: Amend, by: str, *, surface: str = "gateway"
    ) -> AmendmentView:
        """Ask for a plan with other values; RefusedError where none could come of it."""
        asked = await self.asked(run_id)
        if asked.plan.plan_hash != wish.plan_hash:
            raise refusals.refused(Refusal.PLAN_CHANGED)
        _may(by, await self._approvals.get(asked.run_id, wish.plan_hash))
        amended = revaluing.amended(
            asked.hypothesis, wish.changes, plan_hash=wish.plan_hash, by=by, reason=wish.reason
        )
        if isinstance(amended, str):
            raise RefusedError(422, amended, "`tocsin run show` names the fields of the plan")
        told = _told(asked.run_id, wish, by, surface)
        await self._publisher.publish(told)
        return AmendmentView(run_id=asked.run_id, plan_hash=wish.plan_hash, by=by, at=told.at)


def routes(amendments: Amendments) -> APIRouter:
    """Return the route by which people approve with a change."""
    router = APIRouter(prefix="/api/v1/runs/{run_id}")

    @router.post("/amend", status_code=202)
    async def amend(run_id: str, wish: Amend, by: Approver) -> AmendmentView:
        return await amendments.ask(run_id, wish, by.id)

    return router


def _may(by: str, approval: Approval | None) -> None:
    if approval is None or approval.state is not ApprovalState.PENDING:
        raise refusals.refused(Refusal.NOT_WAITING)
    if by not in approval.approvers:
        raise refusals.refused(Refusal.NOT_ALLOWED, approvers=", ".join(approval.approvers))


def _told(run_id: RunId, wish: Amend, by: str, surface: str) -> AmendmentRequested:
    event = AmendmentRequested(
        run_id=run_id,
        by=by,
        surface=surface,
        plan_hash=wish.plan_hash,
        changes=wish.changes,
        reason=wish.reason,
    )
    unique = f"{run_id}:amend:{by}:{event.at.isoformat()}"
    return event.caused_by(unique, "gateway").model_copy(update={"cause": ""})
