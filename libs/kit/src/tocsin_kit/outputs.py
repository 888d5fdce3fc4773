"""Full outputs of tools in the store, so that whoever goes on with a run can read on in them."""

import asyncio
import hashlib
from dataclasses import dataclass
from datetime import timedelta

from redis.asyncio import Redis

from tocsin_kit import keys, logging
from tocsin_kit.errors import TransientError
from tocsin_kit.redaction import Redactor
from tocsin_kit.shelf import Shelves

MOST_BYTES = 8 * 1024 * 1024
"""Of the outputs of one scope, packed; what comes after that is not kept."""

KEPT = timedelta(days=3)

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Page:
    """A piece of an output, and how long the whole is, in characters."""

    text: str
    total: int


class RedisOutputs:
    """Outputs that every worker can read, masked; the client must not decode answers."""

    def __init__(
        self, client: Redis, redactor: Redactor, *, most: int = MOST_BYTES, kept: timedelta = KEPT
    ) -> None:
        self._shelves = Shelves(client, most, kept)
        self._redactor = redactor

    async def keep(self, scope: str, text: str) -> str:
        """Return a ref to the text; an empty one where it cannot be kept, which fails nothing."""
        masked = await asyncio.to_thread(self._redactor.text, text)
        ref = hashlib.sha256(masked.encode()).hexdigest()[:16]
        try:
            kept = await self._shelves.put(keys.outputs(scope), ref, masked.encode())
        except TransientError as error:
            log.warning("outputs.not_kept", scope=scope, why=str(error))
            return ""
        if not kept:
            log.warning("outputs.full", scope=scope)
        return ref if kept else ""

    async def read(self, scope: str, ref: str, offset: int, most: int) -> Page | None:
        """Return at most so many characters from an offset on; None for an unknown ref."""
        found = await self._shelves.get(keys.outputs(scope), ref)
        if found is None:
            return None
        text = found.decode(errors="replace")
        return Page(text[offset : offset + most], len(text))
