"""An event loop whose time passes only when nothing else is left to do."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class StalledError(RuntimeError):
    """Everybody waits for somebody else, for ever."""


class _NoWaiting(selectors.SelectSelector):
    """Skips to the next timer instead of waiting for it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise StalledError("nothing will ever happen any more")
        self.now += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs the same tasks in the same order, whatever else the machine does."""

    def __init__(self) -> None:
        self._clock = _NoWaiting()
        super().__init__(self._clock)

    def time(self) -> float:
        """Return the virtual seconds since the loop was made."""
        return self._clock.now


def run(main: Callable[[], Awaitable[T]]) -> T:
    """Run to the end in virtual time. StalledError if it would wait for ever."""

    async def started() -> T:
        return await main()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(started())
