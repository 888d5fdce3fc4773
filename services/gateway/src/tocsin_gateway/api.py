"""The routes: list and show runs, and decide about them. Every one needs a bearer token."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import SecretStr
from starlette.responses import StreamingResponse

from tocsin_contracts import ApprovalRequested, RunCancelRequested, RunId, RunState, Severity
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
from tocsin_gateway.guard import Guard
from tocsin_gateway.live import sse
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.ports import (
    SUMMED_UP,
    Approvals,
    Cancel,
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
        tokens: Mapping[str, SecretStr],
    ) -> None:
        self._runs = runs
        self._approvals = approvals
        self._canceller = canceller
        self._publisher = publisher
        self._tallies = tallies
        self._news = news
        self._tokens = {who: token.get_secret_value().encode() for who, token in tokens.items()}

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

    def known(self, token: str) -> bool:
        """Whether anybody holds this token."""
        return bool(self._holders(token))

    def principal(self, token: str) -> str:
        """Return who holds a token."""
        holders = self._holders(token)
        if not holders:
            raise refusals.unknown_token()
        return holders[0]

    def _holders(self, token: str) -> tuple[str, ...]:
        """Compare every token, so that time tells nothing."""
        given = token.encode()
        pairs = [(who, hmac.compare_digest(known, given)) for who, known in self._tokens.items()]
        return tuple(who for who, same in pairs if same)

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
        said = taken.refusal is Refusal.SAID_ALREADY
        return refusals.refused(
            taken.refusal or Refusal.UNKNOWN,
            approvers=", ".join(approval.undecided if said else approval.approvers),
            needs=approval.needs,
        )


def build(api: Api, hub: Hub) -> FastAPI:
    """Return the HTTP application with its OpenAPI document."""
    app = FastAPI(title="Tocsin", version="1", docs_url=None, redoc_url=None)
    app.include_router(_routes(api))
    app.include_router(_events(api, hub))
    app.add_middleware(Guard, allowed=api.known)
    for error, answer in refusals.ANSWERS.items():
        app.add_exception_handler(error, answer)
    return app


def _person(api: Api) -> Callable[..., Awaitable[str]]:
    bearer = HTTPBearer(auto_error=False)

    async def person(
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> str:
        return api.principal(given.credentials if given else "")

    return person


def _events(api: Api, hub: Hub) -> APIRouter:
    router = APIRouter(prefix="/api/v1/events", dependencies=[Depends(_person(api))])

    @router.get("", response_class=StreamingResponse)
    async def events(
        run: str = "",
        severity: Annotated[tuple[Severity, ...], Query()] = (),
        topic: Annotated[tuple[str, ...], Query()] = (),
        last_event_id: Annotated[str, Header()] = "",
    ) -> StreamingResponse:
        return sse.stream(hub, sse.Wanted(run=run, severity=severity, topic=topic), last_event_id)

    return router


def _routes(api: Api) -> APIRouter:
    router = APIRouter(prefix="/api/v1/runs")
    who = Annotated[str, Depends(_person(api))]
    size = Annotated[int, Query(ge=1, le=500)]

    @router.get("")
    async def runs(by: who, state: RunState | None = None, limit: size = 50) -> RunPage:
        del by
        return await api.list(state, limit)

    @router.get("/{run_id}")
    async def run(run_id: str, by: who) -> RunView:
        del by
        return await api.show(run_id)

    @router.post("/{run_id}/approve")
    async def approve(run_id: str, verdict: Verdict, by: who) -> DecisionView:
        return await api.decide(run_id, DecisionKind.GRANTED, verdict, by)

    @router.post("/{run_id}/reject")
    async def reject(run_id: str, verdict: Verdict, by: who) -> DecisionView:
        return await api.decide(run_id, DecisionKind.DENIED, verdict, by)

    @router.post("/{run_id}/cancel")
    async def cancel(run_id: str, wish: Cancel, by: who) -> CancelView:
        return await api.cancel(run_id, wish.reason, by)

    @router.post("/{run_id}/budget")
    async def budget(run_id: str, answer: BudgetAnswer, by: who) -> BudgetAnswerView:
        return await api.extend(run_id, answer, by)

    return router
