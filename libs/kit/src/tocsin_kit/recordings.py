"""What services saw while they worked on a run, kept for some days so that it can be replayed."""

import asyncio
import zlib
from datetime import timedelta

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys, logging
from tocsin_kit.store import translated

MOST_BYTES = 1024 * 1024
"""Of one recording, packed; a larger one is not kept."""

MOST_UNPACKED = 64 * 1024 * 1024
_LEVEL = 3

log = logging.get(__name__)


class Recordings:
    """Keeps one recording of each attempt at a run; the client must not decode answers."""

    def __init__(self, client: Redis, days: float) -> None:
        self._client = client
        self._ttl_ms = int(timedelta(days=days).total_seconds() * 1000)

    async def keep(self, run_id: RunId, attempt: int, recording: bytes) -> None:
        """Keep the recording of an attempt in place of an older one, unless it is too large."""
        packed = await asyncio.to_thread(zlib.compress, recording, _LEVEL)
        if len(packed) > MOST_BYTES:
            log.warning("recordings.too_large", run_id=run_id, bytes=len(packed))
            return
        async with translated(f"keep the recording of run {run_id!r}"):
            await self._client.set(keys.recording(run_id, attempt), packed, px=self._ttl_ms)

    async def of(self, run_id: RunId, attempt: int) -> bytes | None:
        """Return the recording of an attempt; None if none is kept."""
        async with translated(f"read the recording of run {run_id!r}"):
            packed = await self._client.get(keys.recording(run_id, attempt))
        if not isinstance(packed, bytes):
            return None
        return await asyncio.to_thread(zlib.decompressobj().decompress, packed, MOST_UNPACKED)
