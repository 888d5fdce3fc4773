"""Which runs another one looks after, so that none is forgotten when that one ends."""

from datetime import timedelta

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys
from tocsin_kit.store import translated

KEPT = timedelta(days=30)


class Joined:
    """Remembers for each run those that were superseded by it."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def add(self, into: RunId, run_id: RunId) -> None:
        """Remember that a run was superseded."""
        key = keys.joined(into)
        async with translated(f"join {run_id!r} to {into!r}"):
            await self._client.sadd(key, run_id)
            await self._client.expire(key, KEPT)

    async def of(self, into: RunId) -> list[RunId]:
        """Return the runs that were superseded by one."""
        async with translated(f"list what joined {into!r}"):
            found = await self._client.smembers(keys.joined(into))
        return sorted(RunId(str(run_id)) for run_id in found)
