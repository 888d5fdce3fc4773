"""Which runs were about the same thing, so that a new one finds what came of them at once."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys
from tocsin_kit.clock import millis
from tocsin_kit.store import translated

MOST = 20
"""Runs that are remembered of one thing."""


class RunsAbout:
    """Remembers the newest runs of each thing, for as long as runs are kept."""

    def __init__(self, client: Redis, ttl_days: float = 30) -> None:
        self._client = client
        self._ttl_ms = int(timedelta(days=ttl_days).total_seconds() * 1000)

    async def meet(self, run_id: RunId, at: datetime, things: Iterable[str]) -> tuple[RunId, ...]:
        """Remember a run and return the others about any of the things, the newest first.

        Doing it again changes nothing. Raises TransientError when the store does not answer.
        """
        places = [keys.about(thing) for thing in things]
        async with translated(f"find what was about the same as run {run_id!r}"):
            pipe = self._client.pipeline(transaction=False)
            for key in places:
                pipe.zadd(key, {run_id: millis(at)}, nx=True)
                pipe.zremrangebyrank(key, 0, -MOST - 1)
                pipe.pexpire(key, self._ttl_ms)
            for key in places:
                pipe.zrange(key, 0, -1, desc=True, withscores=True)
            answers = (await pipe.execute())[-len(places) :] if places else []
        found = {str(one): float(score) for listed in answers for one, score in listed}
        newest = sorted(found, key=lambda one: found[one], reverse=True)
        return tuple(RunId(one) for one in newest if one != run_id)

    async def of(self, thing: str) -> tuple[RunId, ...]:
        """Return the runs about a thing, the newest first; TransientError as above."""
        async with translated("find what was about a thing"):
            listed: list[Any] = await self._client.zrange(keys.about(thing), 0, -1, desc=True)
        return tuple(RunId(str(one)) for one in listed)
