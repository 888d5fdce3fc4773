"""What people did and what models cost, read once from the stream and then as it happens.

The books are in memory: each gateway reads them anew from what the stream still keeps (30 days).
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol

from tocsin_contracts import AlertAccepted, Event
from tocsin_gateway.console.audit import DEEDS, Entry, entry
from tocsin_gateway.console.cost import SPENDS, Costs
from tocsin_kit.errors import TransientError
from tocsin_kit.feed import Fact

MOST_ENTRIES = 10_000
RETRY_SECONDS = 0.5
READS: tuple[type[Event], ...] = (AlertAccepted, *DEEDS, *SPENDS)


class Feed(Protocol):
    """The stream of facts, in its order."""

    async def newest(self) -> int:
        """Return the number of the newest fact."""

    def facts(self, after: int, *, kinds: Sequence[type[Event]] = ()) -> AsyncGenerator[Fact, None]:
        """Yield every fact after a number, of these kinds only if any are named, for ever."""

    def past(
        self, after: int, until: int, *, kinds: Sequence[type[Event]] = ()
    ) -> AsyncGenerator[Fact, None]:
        """Yield the facts after one number and up to another, of these kinds."""


class Books:
    """Keeps the newest deeds and the costs; `whole` says whether all that is kept was read."""

    def __init__(self, feed: Feed, *, most: int = MOST_ENTRIES) -> None:
        self._feed = feed
        self._entries: deque[Entry] = deque(maxlen=most)
        self.costs = Costs()
        self.whole = False

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What people did, the newest first."""
        return tuple(reversed(self._entries))

    async def run(self) -> None:
        """Read until cancelled."""
        newest = await self._newest()
        async with aclosing(self._feed.past(0, newest, kinds=READS)) as past:
            async for fact in past:
                self._take(fact)
        self.whole = True
        async with aclosing(self._feed.facts(newest, kinds=READS)) as facts:
            async for fact in facts:
                self._take(fact)

    def _take(self, fact: Fact) -> None:
        if fact.event is None:
            return
        self.costs.take(fact.event)
        if told := entry(fact):
            self._entries.append(told)

    async def _newest(self) -> int:
        while True:
            try:
                return await self._feed.newest()
            except TransientError:
                await asyncio.sleep(RETRY_SECONDS)
