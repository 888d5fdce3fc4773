"""What people were told already, so that a message delivered twice is shown once."""

from datetime import timedelta

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys
from tocsin_kit.store import translated

KEPT = timedelta(days=30)


class Notices:
    """The notifier's own record, one per run."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def told(self, run_id: RunId, message_id: str, channel: str) -> bool:
        """Return whether a channel has shown a message."""
        async with translated(f"read notices of {run_id!r}"):
            return bool(await self._client.hexists(keys.notice(run_id), f"{channel}:{message_id}"))

    async def settle(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel has shown a message."""
        key = keys.notice(run_id)
        async with translated(f"settle notice of {run_id!r}"):
            await self._client.hset(key, f"{channel}:{message_id}", "1")
            await self._client.expire(key, KEPT)
