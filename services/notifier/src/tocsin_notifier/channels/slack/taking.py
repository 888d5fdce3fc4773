"""What Slack tells is taken at once and worked on afterwards; what was taken is finished."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from tocsin_kit.errors import FullError

MOST_AT_ONCE = 500
DRAIN_SECONDS = 5.0


class Taking:
    """Works on what was taken; close it to finish that."""

    def __init__(self) -> None:
        self._working: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Begin to take."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish what was taken."""
        if self._working:
            await asyncio.wait(self._working, timeout=DRAIN_SECONDS)

    async def idle(self) -> None:
        """Return once everything that was taken is finished."""
        while self._working:
            await asyncio.wait(self._working)

    def _room(self) -> None:
        """Raise FullError when there is no room for more."""
        if len(self._working) >= MOST_AT_ONCE:
            raise FullError("slack: too much at once")

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
