"""What services saw and heard while they worked on a run, kept for some days to be replayed."""

from datetime import timedelta

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys, logging
from tocsin_kit.shelf import Shelves, packed, unpacked
from tocsin_kit.store import translated

MOST_BYTES = 1024 * 1024
"""Of one recording, packed; a larger one is not kept."""

MOST_HEARD = 4 * 1024 * 1024
"""Of all that was said in one attempt, packed; what comes after that is not kept."""

log = logging.get(__name__)


class Recordings:
    """Keeps one recording of each attempt at a run; the client must not decode answers."""

    def __init__(self, client: Redis, days: float) -> None:
        self._client = client
        self._ttl_ms = int(timedelta(days=days).total_seconds() * 1000)

    async def keep(self, run_id: RunId, attempt: int, recording: bytes) -> None:
        """Keep the recording of an attempt in place of an older one, unless it is too large."""
        data = await packed(recording)
        if len(data) > MOST_BYTES:
            log.warning("recordings.too_large", run_id=run_id, bytes=len(data))
            return
        async with translated(f"keep the recording of run {run_id!r}"):
            await self._client.set(keys.recording(run_id, attempt), data, px=self._ttl_ms)

    async def of(self, run_id: RunId, attempt: int) -> bytes | None:
        """Return the recording of an attempt; None if none is kept."""
        async with translated(f"read the recording of run {run_id!r}"):
            data = await self._client.get(keys.recording(run_id, attempt))
        return await unpacked(data) if isinstance(data, bytes) else None


class Transcripts:
    """Keeps what was said in each attempt at a run, one entry after the other."""

    def __init__(self, client: Redis, days: float) -> None:
        self._shelves = Shelves(client, MOST_HEARD, timedelta(days=days))

    async def add(self, run_id: RunId, attempt: int, name: str, entry: bytes) -> None:
        """Keep an entry in place of an older one of its name, while there is room."""
        if not await self._shelves.put(keys.transcript(run_id, attempt), name, entry):
            log.warning("transcripts.full", run_id=run_id, entry=name)

    async def names(self, run_id: RunId, attempt: int) -> tuple[str, ...]:
        """Return the names of the entries of an attempt."""
        return await self._shelves.names(keys.transcript(run_id, attempt))

    async def of(self, run_id: RunId, attempt: int) -> dict[str, bytes]:
        """Return the entries of an attempt by name; none if nothing was said, or it is too old."""
        return await self._shelves.all(keys.transcript(run_id, attempt))
