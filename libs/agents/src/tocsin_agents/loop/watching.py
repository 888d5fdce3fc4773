"""A wait that ends: when its time is over, when nothing moves, or when the run is to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum

from tocsin_agents.loop.invocation import Cancel


class Stop(StrEnum):
    """What ended a wait."""

    TIME = "time"
    IDLE = "idle"
    CANCELLED = "cancelled"


class StoppedError(Exception):
    """The wait was ended; `why` says by what."""

    def __init__(self, why: Stop) -> None:
        super().__init__(why.value)
        self.why = why


class Watch:
    """Moves the end of a wait on whenever something moves, though never past its deadline."""

    def __init__(self, seconds: float, idle: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + seconds
        self._idle = idle
        self._cancelled = False
        self.timeout = asyncio.timeout_at(self._end)

    @property
    def why(self) -> Stop:
        """What ended the wait."""
        if self._cancelled:
            return Stop.CANCELLED
        return Stop.TIME if self._loop.time() >= self._deadline else Stop.IDLE

    def moved(self) -> None:
        """Say that something has moved."""
        if not self.timeout.expired():
            self.timeout.reschedule(self._end)

    def cancel(self, grace: float) -> None:
        """End the wait within so many seconds."""
        self._cancelled = True
        self._deadline = min(self._deadline, self._loop.time() + grace)
        self.moved()

    @property
    def _end(self) -> float:
        if self._idle is None or self._cancelled:
            return self._deadline
        return min(self._deadline, self._loop.time() + self._idle)


@asynccontextmanager
async def watching(
    seconds: float, cancel: Cancel, *, idle: float | None = None, grace: float = 0
) -> AsyncIterator[Watch]:
    """Bound the block; StoppedError says what ended it. A cancelled run gives it `grace` seconds.

    Without `idle` nothing needs to move, as while a tool runs.
    """
    watch = Watch(seconds, idle)
    try:
        async with watch.timeout:
            with cancel.telling(lambda: watch.cancel(grace)):
                yield watch
    except TimeoutError:
        if not watch.timeout.expired():
            raise
        raise StoppedError(watch.why) from None
