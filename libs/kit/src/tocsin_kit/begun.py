"""What was begun and must not be begun twice, whichever worker goes on."""

import secrets
from datetime import timedelta

from redis.asyncio import Redis

from tocsin_kit import keys
from tocsin_kit.store import translated

KEPT = timedelta(days=30)


class RedisBegun:
    """Keys that somebody has begun, remembered for so long."""

    def __init__(self, client: Redis, kept: timedelta = KEPT) -> None:
        self._client = client
        self._ttl_ms = int(kept.total_seconds() * 1000)

    async def begin(self, key: str) -> bool:
        """Remember a key; return whether nobody had begun it. TransientError: nobody may begin.

        The client sends a command again whose answer was lost; by the token it finds itself.
        """
        token = secrets.token_hex(8)
        async with translated(f"remember that {key!r} is begun"):
            found = await self._client.set(
                keys.begun(key), token, nx=True, get=True, px=self._ttl_ms
            )
        return found in (None, token, token.encode())
