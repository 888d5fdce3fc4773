"""Whether the stream of facts has room for new runs: what is left of it is for open ones."""

import asyncio
from collections.abc import Awaitable, Callable

from tocsin_kit import logging
from tocsin_kit.errors import TransientError

REFUSE_AT, RESUME_BELOW = 0.80, 0.75
"""Parts of the stream; between the two it stays as it was, and does not change by the second."""

LOOK_SECONDS = 3.0

log = logging.get(__name__)


class Filling:
    """Looks at the stream every few seconds; while nobody answers, what was seen last holds."""

    def __init__(self, look: Callable[[], Awaitable[float]]) -> None:
        self._look = look
        self.ratio = 0.0
        self._full = False

    def has_room(self) -> bool:
        """Return whether new runs may be opened."""
        return not self._full

    def notice(self) -> str:
        """Return what an operator should know; nothing while there is room."""
        full = f"new runs are refused: the stream of facts is {self.ratio:.0%} full"
        return full if self._full else ""

    async def look(self) -> None:
        """See how full it is now. Raises TransientError if the bus does not say."""
        self.ratio = await self._look()
        was, self._full = self._full, self.ratio >= (RESUME_BELOW if self._full else REFUSE_AT)
        if self._full and not was:
            log.error("stream.nearly_full", ratio=self.ratio, hint="new runs are refused")
        if was and not self._full:
            log.warning("stream.has_room_again", ratio=self.ratio)

    async def keep_looking(self) -> None:
        """Look every few seconds, until cancelled."""
        while True:
            try:
                await self.look()
            except TransientError as error:
                log.warning("stream.unseen", why=str(error))
            await asyncio.sleep(LOOK_SECONDS)
