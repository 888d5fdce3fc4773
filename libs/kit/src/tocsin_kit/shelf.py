"""Texts of one run by name: packed, bounded together, and forgotten together."""

import asyncio
import zlib
from datetime import timedelta
from typing import Any

from redis.asyncio import Redis

from tocsin_kit.errors import PermanentError
from tocsin_kit.store import Script, translated

MOST_UNPACKED = 64 * 1024 * 1024
_LEVEL = 3
_HELD = b"#"
"""The field that counts the bytes of all others; no text is called so."""


async def packed(data: bytes) -> bytes:
    """Return data as it is stored."""
    return await asyncio.to_thread(zlib.compress, data, _LEVEL)


async def unpacked(data: bytes) -> bytes:
    """Return what was packed, up to a bound; PermanentError for what never was."""
    try:
        return await asyncio.to_thread(zlib.decompressobj().decompress, data, MOST_UNPACKED)
    except zlib.error as error:
        raise PermanentError(f"what is stored is damaged: {error}") from error


class Shelves:
    """Shelves in the store, each with room for so many packed bytes, kept since the last text.

    The client must not decode answers. All methods raise TransientError while the store is away.
    """

    def __init__(self, client: Redis, most_bytes: int, kept: timedelta) -> None:
        self._client = client
        self._most = most_bytes
        self._ttl_ms = int(kept.total_seconds() * 1000)
        self._script = Script(client, "shelf")

    async def put(self, shelf: str, name: str, data: bytes) -> bool:
        """Keep data in place of what had its name; return whether there was room."""
        return bool(
            await self._script([shelf], [name, await packed(data), self._most, self._ttl_ms])
        )

    async def get(self, shelf: str, name: str) -> bytes | None:
        """Return what is kept under a name; None for nothing."""
        async with translated(f"read {name!r} of {shelf!r}"):
            found = await self._client.hget(shelf, name)
        return await unpacked(found) if isinstance(found, bytes) else None

    async def names(self, shelf: str) -> tuple[str, ...]:
        """Return the names of all that is kept."""
        async with translated(f"list {shelf!r}"):
            found: list[Any] = await self._client.hkeys(shelf)
        return tuple(sorted(name.decode() for name in found if name != _HELD))

    async def all(self, shelf: str) -> dict[str, bytes]:
        """Return everything by name."""
        async with translated(f"read {shelf!r}"):
            found: dict[Any, Any] = await self._client.hgetall(shelf)
        return {
            name.decode(): await unpacked(text) for name, text in found.items() if name != _HELD
        }
