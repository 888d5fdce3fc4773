"""Time as a port, so that tests own it."""

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the loop."""
        await asyncio.sleep(seconds)


def millis(at: datetime) -> int:
    """Return milliseconds since the epoch, the unit of every time in Redis."""
    return int(at.timestamp() * 1000)


def from_millis(value: int | str) -> datetime:
    """Return the aware UTC time of milliseconds since the epoch."""
    return datetime.fromtimestamp(int(value) / 1000, UTC)
