"""A stream of facts in memory, for whoever looks on."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from tocsin_contracts import Event
from tocsin_kit.feed import Fact
from tocsin_testing.fakes import Outage


class FakeFeed(Outage):
    """Facts by number; the first has the number 1. Unreadable ones are None."""

    def __init__(self, *events: Event | None) -> None:
        self._facts = [Fact(number, event) for number, event in enumerate(events, 1)]
        self._news = asyncio.Condition()
        self.looked: list[tuple[int, int]] = []

    async def add(self, *events: Event | None) -> None:
        """Store facts, and tell whoever reads."""
        async with self._news:
            self._facts += [Fact(len(self._facts) + n, event) for n, event in enumerate(events, 1)]
            self._news.notify_all()

    async def renew(self, *events: Event) -> None:
        """Begin the stream anew; what is stored then has low numbers again."""
        self._facts.clear()
        await self.add(*events)

    async def newest(self) -> int:
        """Return the number of the newest fact."""
        self._answer()
        return len(self._facts)

    async def facts(
        self, after: int, *, kinds: Sequence[type[Event]] = ()
    ) -> AsyncGenerator[Fact, None]:
        """Yield every fact after a number, for ever."""
        while True:
            for fact in await self._after(after):
                after = fact.number
                if _is_of(fact, kinds):
                    yield fact

    async def _after(self, number: int) -> list[Fact]:
        async with self._news:
            await self._news.wait_for(lambda: len(self._facts) != number)
            return self._facts[number if number <= len(self._facts) else 0 :]

    async def past(
        self, after: int, until: int, *, kinds: Sequence[type[Event]] = ()
    ) -> AsyncGenerator[Fact, None]:
        """Yield the facts after one number and up to another."""
        self.looked.append((after, until))
        for fact in self._facts[after:until]:
            if _is_of(fact, kinds):
                yield fact


def _is_of(fact: Fact, kinds: Sequence[type[Event]]) -> bool:
    return not kinds or isinstance(fact.event, tuple(kinds))
