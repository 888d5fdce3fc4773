"""What became of each run, and what people said of it: kept longer than the run itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import ValidationError
from redis.asyncio import Redis

from tocsin_contracts import Event, HypothesisFormed, PlanDrafted, RunId
from tocsin_contracts.base import Value
from tocsin_contracts.outcomes import Rateable, RatingView, RunOutcome
from tocsin_kit import keys, logging
from tocsin_kit.clock import millis
from tocsin_kit.run_view import Run
from tocsin_kit.store import Script, text_fields, translated

KEPT = timedelta(days=400)
MOST_RUNS = 20_000
"""Of one look: the newest; what is older is left out."""

PAGE = 200
_ROW = "row"
_RATING = "rating:"

_NEEDED: Mapping[Rateable, type[Event]] = {
    Rateable.HYPOTHESIS: HypothesisFormed,
    Rateable.FIX: PlanDrafted,
}

V = TypeVar("V", bound=Value)
log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether what was told is the newest; `before` is what it took the place of, if anything."""

    newest: bool
    before: RunOutcome | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A run's outcome with its ratings."""

    outcome: RunOutcome
    ratings: tuple[RatingView, ...] = ()


class OutcomeRecords:
    """One record a run. Every method raises TransientError without an answer of the store."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._newest = Script(client, "newest")
        self._kept_ms = int(KEPT.total_seconds() * 1000)

    async def keep(self, row: RunOutcome) -> Kept:
        """Keep a row unless one of a later version is there; the same twice changes nothing."""
        began = millis(row.began_at)
        newest, before = await self._newest(
            [keys.outcome(row.run_id)],
            [_ROW, row.version, row.model_dump_json(), self._kept_ms],
            ("ZADD", keys.outcomes(), began, row.run_id),
            ("ZREMRANGEBYSCORE", keys.outcomes(), "-inf", began - self._kept_ms),
        )
        return Kept(bool(newest), _read(RunOutcome, str(before)) if before else None)

    async def rate(self, rating: RatingView) -> bool:
        """Keep what somebody says of a thing, unless they said something newer already.

        Returns whether it is another opinion than the one before.
        """
        newest, before = await self._newest(
            [keys.outcome(rating.run_id)],
            [
                f"{_RATING}{rating.about}:{rating.by}",
                millis(rating.at),
                rating.model_dump_json(),
                self._kept_ms,
            ],
        )
        said = _read(RatingView, str(before)) if before else None
        return bool(newest) and (said is None or said.useful is not rating.useful)

    async def ratings(self, run_id: RunId) -> tuple[RatingView, ...]:
        """Return what people say of a run, the oldest first."""
        async with translated(f"read ratings of {run_id!r}"):
            record = text_fields(await self._client.hgetall(keys.outcome(run_id)))
        return tuple(sorted(_ratings(record), key=lambda one: one.at))

    async def since(self, at: datetime) -> list[Judged]:
        """Return the runs that began since then, the newest first."""
        async with translated("list outcomes"):
            found = await self._client.zrevrangebyscore(
                keys.outcomes(), "+inf", millis(at), start=0, num=MOST_RUNS
            )
        runs = [str(run_id) for run_id in found]
        pages = [runs[first : first + PAGE] for first in range(0, len(runs), PAGE)]
        return [one for page in pages for one in await self._page(page)]

    async def _page(self, run_ids: list[str]) -> list[Judged]:
        async with translated("read outcomes"):
            pipe = self._client.pipeline(transaction=False)
            for run_id in run_ids:
                pipe.hgetall(keys.outcome(run_id))
            records = [text_fields(record) for record in await pipe.execute()]
        return [
            Judged(row, tuple(_ratings(record)))
            for record in records
            if (row := _read(RunOutcome, record.get(_ROW, "")))
        ]


def rateable(run: Run) -> tuple[Rateable, ...]:
    """Return what of a run people can rate."""
    return tuple(about for about, needed in _NEEDED.items() if needed.topic in run.facts)


def _ratings(record: dict[str, str]) -> Iterator[RatingView]:
    for name, stored in record.items():
        if name.startswith(_RATING) and (rating := _read(RatingView, stored)):
            yield rating


def _read(kind: type[V], stored: str) -> V | None:
    """One record of another version must not hide the others."""
    body = stored.partition("\n")[2]
    if not body:
        return None
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        log.warning("outcomes.unreadable", kind=kind.__name__, faults=error.error_count())
        return None
