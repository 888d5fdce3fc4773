"""Who counts what is spent across runs: a port, and a ledger for one process."""

from collections import defaultdict
from datetime import date
from typing import Protocol

from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.spending import Spending


class Ledger(Protocol):
    """Counts by source of alerts and by day; `tocsin_kit.ledger.RedisLedger` for many workers."""

    async def today(self, source: str) -> tuple[Spending, Spending]:
        """Return what the source, and everybody together, have spent today."""

    async def count(self, source: str, spent: Spending) -> tuple[Spending, Spending]:
        """Add a spending to the source's account and to the day's; return both."""


class MemoryLedger:
    """A ledger that only this process keeps; it forgets a day when the next one begins."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._day: date | None = None
        self._of_source: dict[str, Spending] = defaultdict(Spending)
        self._of_day = Spending()

    async def today(self, source: str) -> tuple[Spending, Spending]:
        """Return what the source, and everybody together, have spent today."""
        return await self.count(source, Spending())

    async def count(self, source: str, spent: Spending) -> tuple[Spending, Spending]:
        """Add a spending to the source's account and to the day's; return both."""
        today = self._clock.now().date()
        if today != self._day:
            self._day, self._of_day = today, Spending()
            self._of_source.clear()
        self._of_source[source] += spent
        self._of_day += spent
        return self._of_source[source], self._of_day
