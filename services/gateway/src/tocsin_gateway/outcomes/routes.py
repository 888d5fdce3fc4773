"""`/api/v1/outcomes`, and how people rate what a run told them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from tocsin_contracts import RunId
from tocsin_contracts.outcomes import OutcomesView, Rateable, RatingsView, RatingView
from tocsin_contracts.roles import Role
from tocsin_gateway import refusals
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.outcomes.handlers import Runs
from tocsin_gateway.outcomes.totals import by_source, newest, total
from tocsin_gateway.ports import Publisher
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.clock import Clock
from tocsin_kit.outcomes import Judged, rateable
from tocsin_kit.rating import rated

MOST_SHOWN = 500

Viewer = Annotated[Principal, Depends(needs(Role.VIEWER))]


class Records(Protocol):
    """Knows what became of runs. May raise TransientError."""

    async def since(self, at: datetime) -> list[Judged]:
        """Return the runs that began since then, the newest first."""

    async def ratings(self, run_id: RunId) -> tuple[RatingView, ...]:
        """Return what people say of a run."""


class RatingWish(BaseModel):
    """What somebody says of a hypothesis or a fix."""

    model_config = ConfigDict(extra="forbid")

    about: Rateable
    useful: bool
    text: str = Field(default="", max_length=1000)


class Outcomes:
    """Reads outcomes, and takes ratings as events."""

    def __init__(self, records: Records, runs: Runs, publisher: Publisher, clock: Clock) -> None:
        self._records = records
        self._runs = runs
        self._publisher = publisher
        self._clock = clock

    async def view(self, days: int) -> OutcomesView:
        """Return what became of the runs that began within so many days."""
        since = self._clock.now() - timedelta(days=days)
        judged: Sequence[Judged] = await self._records.since(since)
        return OutcomesView(
            days=days,
            since=since,
            total=total(judged),
            sources=by_source(judged),
            runs=newest(judged, MOST_SHOWN),
        )

    async def ratings(self, run_id: str) -> RatingsView:
        """Return what people say of a run; RefusedError for a run that nobody knows."""
        if await self._runs.get(RunId(run_id)) is None:
            raise refusals.unknown_run(run_id)
        return RatingsView(ratings=await self._records.ratings(RunId(run_id)))

    async def rate(self, run_id: str, wish: RatingWish, by: str, surface: str) -> RatingView:
        """Publish what somebody says; RefusedError where there is nothing to rate."""
        run = await self._runs.get(RunId(run_id))
        if run is None:
            raise refusals.unknown_run(run_id)
        if wish.about not in rateable(run):
            raise RefusedError(409, f"the run has no {wish.about}", "look at the run again")
        told = rated(
            run,
            wish.about,
            useful=wish.useful,
            by=by,
            surface=surface,
            at=self._clock.now(),
            producer="gateway",
            text=wish.text,
        )
        await self._publisher.publish(told)
        return RatingView(
            run_id=run.id, by=by, about=wish.about, useful=wish.useful, text=wish.text, at=told.at
        )


def routes(outcomes: Outcomes) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api/v1")
    span = Annotated[int, Query(ge=1, le=366)]

    @router.get("/outcomes")
    async def view(by: Viewer, days: span = 30) -> OutcomesView:
        del by
        return await outcomes.view(days)

    @router.get("/runs/{run_id}/ratings")
    async def ratings(run_id: str, by: Viewer) -> RatingsView:
        del by
        return await outcomes.ratings(run_id)

    @router.post("/runs/{run_id}/ratings")
    async def rate(
        run_id: str, wish: RatingWish, by: Annotated[Principal, Depends(needs(Role.OPERATOR))]
    ) -> RatingView:
        return await outcomes.rate(run_id, wish, by.id, "gateway")

    return router
