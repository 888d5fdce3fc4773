"""The addresses of runs and of their events, each with the role that it needs."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from starlette.responses import StreamingResponse

from tocsin_contracts import RunState, Severity
from tocsin_contracts.roles import Role
from tocsin_contracts.views import (
    BudgetAnswerView,
    CancelView,
    DecisionKind,
    DecisionView,
    RunPage,
    RunView,
)
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.api import Api
from tocsin_gateway.budgets import BudgetAnswer
from tocsin_gateway.live import sse
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.ports import Cancel, Verdict

Viewer = Annotated[Principal, Depends(needs(Role.VIEWER))]
Operator = Annotated[Principal, Depends(needs(Role.OPERATOR))]
Approver = Annotated[Principal, Depends(needs(Role.APPROVER))]


def runs(api: Api) -> APIRouter:
    """Return the routes that read runs."""
    router = APIRouter(prefix="/api/v1/runs", dependencies=[Depends(needs(Role.VIEWER))])
    size = Annotated[int, Query(ge=1, le=500)]

    @router.get("")
    async def runs(state: RunState | None = None, limit: size = 50) -> RunPage:
        return await api.list(state, limit)

    @router.get("/{run_id}")
    async def run(run_id: str) -> RunView:
        return await api.show(run_id)

    return router


def decisions(api: Api) -> APIRouter:
    """Return the routes by which people change what becomes of a run."""
    router = APIRouter(prefix="/api/v1/runs/{run_id}")

    @router.post("/approve")
    async def approve(run_id: str, verdict: Verdict, by: Approver) -> DecisionView:
        return await api.decide(run_id, DecisionKind.GRANTED, verdict, by.id)

    @router.post("/reject")
    async def reject(run_id: str, verdict: Verdict, by: Approver) -> DecisionView:
        return await api.decide(run_id, DecisionKind.DENIED, verdict, by.id)

    @router.post("/cancel")
    async def cancel(run_id: str, wish: Cancel, by: Operator) -> CancelView:
        return await api.cancel(run_id, wish.reason, by.id)

    @router.post("/budget")
    async def budget(run_id: str, answer: BudgetAnswer, by: Operator) -> BudgetAnswerView:
        return await api.extend(run_id, answer, by.id)

    return router


def events(hub: Hub) -> APIRouter:
    """Return the stream of what happens."""
    router = APIRouter(prefix="/api/v1/events")

    @router.get("", response_class=StreamingResponse)
    async def events(
        by: Viewer,
        run: str = "",
        severity: Annotated[tuple[Severity, ...], Query()] = (),
        topic: Annotated[tuple[str, ...], Query()] = (),
        last_event_id: Annotated[str, Header()] = "",
    ) -> StreamingResponse:
        wanted = sse.Wanted(run=run, severity=severity, topic=topic)
        return sse.stream(hub, wanted, last_event_id, who=by.id)

    return router
