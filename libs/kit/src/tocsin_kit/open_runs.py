"""The newest runs that were opened, so that a new alert can be compared with them at once."""

from datetime import datetime, timedelta

from redis.asyncio import Redis

from tocsin_kit import keys
from tocsin_kit.clock import millis
from tocsin_kit.store import translated

MOST = 2000
"""Runs that are remembered; older ones are too old to have one cause with a new alert."""


class OpenRuns:
    """Remembers a card for each open run: a text that says what the run is about."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._key = keys.triage("open")

    async def add(self, at: datetime, card: str) -> None:
        """Remember a card; doing it again changes nothing."""
        async with translated("remember an open run"):
            pipe = self._client.pipeline(transaction=False)
            pipe.zadd(self._key, {card: millis(at)}, nx=True)
            pipe.zremrangebyrank(self._key, 0, -MOST - 1)
            pipe.expire(self._key, timedelta(days=1))
            await pipe.execute()

    async def newest(self, since: datetime, limit: int) -> list[str]:
        """Return the cards since a time, the newest first, at most so many."""
        async with translated("list open runs"):
            found = await self._client.zrevrangebyscore(
                self._key, "+inf", millis(since), start=0, num=limit
            )
        return [str(card) for card in found]

    async def remove(self, card: str) -> None:
        """Forget the card of a run that has ended."""
        async with translated("forget an open run"):
            await self._client.zrem(self._key, card)
