"""Which runs another one looks after, so that none is forgotten when that one ends."""

from collections.abc import Mapping
from datetime import timedelta

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys
from tocsin_kit.store import text_fields, translated

KEPT = timedelta(days=30)


class Joined:
    """Remembers for each run those that were superseded by it, with the keys of their incidents."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def add(self, into: RunId, run_id: RunId, incident_key: str) -> None:
        """Remember that a run was superseded."""
        key = keys.joined(into)
        async with translated(f"join {run_id!r} to {into!r}"):
            await self._client.hset(key, run_id, incident_key)
            await self._client.expire(key, KEPT)

    async def count(self, into: RunId) -> int:
        """Return how many runs were superseded by one."""
        async with translated(f"count what joined {into!r}"):
            return int(await self._client.hlen(keys.joined(into)))

    async def of(self, into: RunId) -> Mapping[RunId, str]:
        """Return the runs that were superseded by one, each with the key of its incident."""
        async with translated(f"list what joined {into!r}"):
            found = text_fields(await self._client.hgetall(keys.joined(into)))
        return {RunId(run_id): found[run_id] for run_id in sorted(found)}
