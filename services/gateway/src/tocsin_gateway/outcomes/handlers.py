"""What the gateway hears once, whichever replica hears it: how runs go on, and ratings."""

from typing import Protocol

from tocsin_contracts import (
    Event,
    FixIneffective,
    PullRequestMerged,
    PullRequestOpened,
    RunFinished,
    RunId,
)
from tocsin_contracts.outcomes import Rated, RatingView, RunOutcome
from tocsin_gateway.outcomes import counting
from tocsin_gateway.outcomes.rows import row
from tocsin_kit.bus import Bus
from tocsin_kit.outcomes import Kept
from tocsin_kit.run_view import Run


class Runs(Protocol):
    """Reads runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""


class Records(Protocol):
    """Keeps what became of runs."""

    async def keep(self, row: RunOutcome) -> Kept:
        """Keep a row unless a later one is there."""

    async def rate(self, rating: RatingView) -> bool:
        """Keep a rating unless its person said something newer; return if it is a new opinion."""


class OutcomeHandlers:
    """Brings the row of a run up to date whenever its record has something new in it."""

    def __init__(self, runs: Runs, records: Records) -> None:
        self._runs = runs
        self._records = records

    def listen(self, bus: Bus) -> None:
        """Subscribe."""
        bus.watch(PullRequestOpened, self.on_news)
        bus.watch(PullRequestMerged, self.on_news)
        bus.watch(FixIneffective, self.on_news)
        bus.watch(RunFinished, self.on_news)
        bus.watch(Rated, self.on_rated)

    async def on_news(self, event: Event) -> None:
        """Take over what became of the run; a run that is not kept any more has no news."""
        run = await self._runs.get(event.run_id)
        if run is None:
            return
        now = row(run)
        kept = await self._records.keep(now)
        if kept.newest:
            counting.count(kept.before, now)

    async def on_rated(self, event: Rated) -> None:
        """Take over what somebody said of a run."""
        rating = RatingView(
            run_id=event.run_id,
            by=event.by,
            about=event.about,
            useful=event.useful,
            text=event.text,
            at=event.at,
        )
        if await self._records.rate(rating):
            counting.count_rating(rating)
