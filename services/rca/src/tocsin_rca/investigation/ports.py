"""What an investigation asks of a run's record, and of the bus."""

from typing import Protocol

from tocsin_contracts import LiveEvent, RunId
from tocsin_kit.run_view import Run
from tocsin_kit.timers import Timer


class Runs(Protocol):
    """Reads runs. May raise TransientError."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""


class Timers(Protocol):
    """Wakes whoever waits."""

    async def set_timer(self, timer: Timer) -> None:
        """Return once the timer is stored; the same one set twice is one."""


class Lookers(Protocol):
    """Whoever looks on while an agent works."""

    async def tell(self, event: LiveEvent) -> None:
        """Tell them; it takes no time, never fails, and may be lost."""
