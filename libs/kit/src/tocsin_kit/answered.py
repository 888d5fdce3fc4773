"""How many comments of a run were answered of late, so that nobody keeps it talking."""

from datetime import datetime, timedelta

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys
from tocsin_kit.clock import millis
from tocsin_kit.store import translated

WINDOW = timedelta(hours=1)


class Answered:
    """Counts answers by the ids of what they answer; `most` are given within an hour."""

    def __init__(self, client: Redis, most: int) -> None:
        self._client = client
        self._most = most

    def limit(self, most: int) -> None:
        """Give so many answers, from now on."""
        self._most = most

    async def takes(self, run_id: RunId, asked: str, now: datetime) -> bool:
        """Take a place for an answer, if one is left; a comment that has one keeps it.

        Workers on one run hold its lease, so no two of them look at the same time. Raises
        TransientError when the store does not answer.
        """
        key, since = keys.answered(run_id), millis(now - WINDOW)
        async with translated(f"count the answers of run {run_id!r}"):
            pipe = self._client.pipeline(transaction=False)
            pipe.zscore(key, asked)
            pipe.zcount(key, f"({since}", "+inf")
            held, taken = await pipe.execute()
            if held is not None:
                return True
            if int(taken) >= self._most:
                return False
            pipe = self._client.pipeline(transaction=False)
            pipe.zremrangebyscore(key, "-inf", since)
            pipe.zadd(key, {asked: millis(now)})
            pipe.pexpire(key, 2 * WINDOW)
            await pipe.execute()
        return True
