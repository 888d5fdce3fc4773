"""What operators do to runs beside deciding: have them looked at again, or take them over."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from tocsin_contracts import RunId, RunState
from tocsin_contracts.operations import EscalateView, RerunView, RunEscalationRequested, RunRerun
from tocsin_contracts.roles import Role
from tocsin_gateway import refusals
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.ports import Publisher, Runs
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.reruns import NotRerunError
from tocsin_kit.run_view import Run

Operator = Annotated[Principal, Depends(needs(Role.OPERATOR))]

UNDECIDED = (
    RunState.RECEIVED,
    RunState.INVESTIGATING,
    RunState.VALIDATING,
    RunState.AWAITING_APPROVAL,
)
"""Where a run can be taken over."""


class Reruns(Protocol):
    """Begins new runs."""

    async def begin(self, run: Run, by: str, reason: str = "") -> RunRerun:
        """Open a new run with the alerts of one that has ended."""


class Wish(BaseModel):
    """Why somebody wants it."""

    reason: str = Field(default="", max_length=1000)


class Operations:
    """Answers operators; every no says why."""

    def __init__(self, runs: Runs, reruns: Reruns, publisher: Publisher) -> None:
        self._runs = runs
        self._reruns = reruns
        self._publisher = publisher

    async def rerun(self, run_id: str, reason: str, by: str) -> RerunView:
        """Have the alerts of a run that has ended looked at again by a new one."""
        try:
            told = await self._reruns.begin(await self._run(run_id), by, reason)
        except NotRerunError as error:
            raise RefusedError(409, str(error), "look at the run again") from error
        return RerunView(run_id=told.run_id, of=told.of, by=told.by, at=told.at)

    async def escalate(self, run_id: str, reason: str, by: str) -> EscalateView:
        """End a run that nobody has decided about yet: a person goes on with all that is known."""
        run = await self._run(run_id)
        if run.state not in UNDECIDED:
            hint = "it has ended" if run.state.terminal else "it was decided: cancel it instead"
            raise RefusedError(409, f"the run is {run.state.value}", hint)
        event = RunEscalationRequested(run_id=run.id, by=by, reason=reason)
        unique = f"{run.id}:escalate:{event.at.isoformat()}"
        told = event.caused_by(unique, "gateway").model_copy(update={"cause": ""})
        await self._publisher.publish(told)
        return EscalateView(run_id=run.id, by=by, at=event.at)

    async def _run(self, run_id: str) -> Run:
        run = await self._runs.get(RunId(run_id))
        if run is None:
            raise refusals.unknown_run(run_id)
        return run


def routes(operations: Operations) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api/v1/runs/{run_id}")

    @router.post("/rerun")
    async def rerun(run_id: str, wish: Wish, by: Operator) -> RerunView:
        return await operations.rerun(run_id, wish.reason, by.id)

    @router.post("/escalate")
    async def escalate(run_id: str, wish: Wish, by: Operator) -> EscalateView:
        return await operations.escalate(run_id, wish.reason, by.id)

    return router
