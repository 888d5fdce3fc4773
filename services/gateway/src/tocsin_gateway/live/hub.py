"""One reader of the feed for everybody who looks on; nobody who is slow holds up another."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from tocsin_contracts.feed import FactView
from tocsin_gateway.live.lines import Lines
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.errors import TransientError
from tocsin_kit.feed import Fact

REMEMBERED = 1000
"""Lines that a client may have missed without being read from the stream for it alone."""

MOST_WAITING = 256
"""Lines that wait for one client; who falls behind further is sent away and resumes by number."""

MOST_LISTENERS = 500
MOST_OF_ONE = 50
"""Clients of one person: a wall of dashboards has room, and nobody takes every place."""

SOON_SECONDS = 2
LATER_SECONDS = 30
RETRY_SECONDS = 0.5


class Feed(Protocol):
    """The stream of facts, in its order."""

    async def newest(self) -> int:
        """Return the number of the newest fact."""

    def facts(self, after: int) -> AsyncGenerator[Fact, None]:
        """Yield every fact after a number, for ever."""

    def past(self, after: int, until: int) -> AsyncGenerator[Fact, None]:
        """Yield the facts after one number and up to another."""


class Listener:
    """One client: the lines that it has not been given yet."""

    def __init__(self, who: str = "", most: int = MOST_WAITING) -> None:
        self.who = who
        self._most = most
        self._waiting: deque[FactView] = deque()
        self._news = asyncio.Event()
        self.ended = False

    def give(self, line: FactView) -> None:
        """Let a line wait for the client; one that has too many waiting is sent away."""
        if len(self._waiting) >= self._most:
            self.end()
        elif not self.ended:
            self._waiting.append(line)
            self._news.set()

    def end(self) -> None:
        """Give nothing more."""
        self.ended = True
        self._news.set()

    async def next(self) -> FactView | None:
        """Return the next line; None once there is none any more."""
        while not self._waiting and not self.ended:
            self._news.clear()
            await self._news.wait()
        return None if self.ended else self._waiting.popleft()


class Hub:
    """Gives every line of the feed to every listener, and what they missed before."""

    def __init__(
        self,
        feed: Feed,
        *,
        remembered: int = REMEMBERED,
        most: int = MOST_LISTENERS,
        most_of_one: int = MOST_OF_ONE,
    ) -> None:
        self._feed = feed
        self._lines = Lines()
        self._remembered = remembered
        self._most = most
        self._most_of_one = most_of_one
        self._listeners: set[Listener] = set()
        self._ring: deque[FactView] = deque()
        self._whole_after = 0
        self._opened_at = 0
        self._number: int | None = None

    @property
    def number(self) -> int:
        """The number up to which everybody has been told, at least that of the start."""
        return max(self._number or 0, self._opened_at)

    @property
    def reads(self) -> bool:
        """Whether the feed is read; before, nothing is known of it."""
        return self._number is not None

    @property
    def remembered(self) -> tuple[FactView, ...]:
        """The newest lines, the newest first."""
        return tuple(reversed(self._ring))

    async def run(self) -> None:
        """Read until cancelled; then every listener ends."""
        try:
            self._opened_at = await self._newest()
            self._number = self._whole_after = max(0, self._opened_at - self._remembered)
            async with aclosing(self._feed.facts(self._number)) as facts:
                async for fact in facts:
                    self._take(fact)
        finally:
            for listener in self._listeners:
                listener.end()

    def join(self, who: str) -> Listener:
        """Listen from now on, in one of the places of a person, until `leave`.

        RefusedError while nothing is read, and when there is no place.
        """
        if self._number is None:
            raise RefusedError(
                503, "the feed is not read yet", "try again in a few seconds", SOON_SECONDS
            )
        if sum(one.who == who for one in self._listeners) >= self._most_of_one:
            raise RefusedError(
                429,
                f"{self._most_of_one} of your clients listen already",
                "close another one",
                LATER_SECONDS,
            )
        if len(self._listeners) >= self._most:
            raise RefusedError(
                503, f"{self._most} clients listen already", "close another one", LATER_SECONDS
            )
        listener = Listener(who)
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Give a place back; again does no harm. Who was sent away keeps it until then."""
        self._listeners.discard(listener)

    async def past(self, after: int, until: int) -> AsyncGenerator[FactView, None]:
        """Yield the lines after one number and up to another: remembered, or read again."""
        if after >= self._whole_after and (self._number or 0) >= until:
            for line in [line for line in self._ring if after < line.number <= until]:
                yield line
            return
        async with aclosing(self._feed.past(after, until)) as facts:
            async for fact in facts:
                if told := self._lines.of(fact):
                    yield told

    def _take(self, fact: Fact) -> None:
        if fact.number <= (self._number or 0):
            self._begin_anew(fact.number)
        self._number = fact.number
        line = self._lines.of(fact)
        if line is None:
            return
        self._ring.append(line)
        if len(self._ring) > self._remembered:
            self._whole_after = self._ring.popleft().number
        if fact.number > self._opened_at:
            self._tell(line)

    def _tell(self, line: FactView) -> None:
        for listener in self._listeners:
            listener.give(line)

    def _begin_anew(self, number: int) -> None:
        """The stream was made anew: what its clients have seen has no number in it."""
        self._ring.clear()
        self._whole_after, self._opened_at = number - 1, 0
        for listener in self._listeners:
            listener.end()

    async def _newest(self) -> int:
        while True:
            try:
                return await self._feed.newest()
            except TransientError:
                await asyncio.sleep(RETRY_SECONDS)
