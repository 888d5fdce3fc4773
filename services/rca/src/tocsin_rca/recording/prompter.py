"""Answers from the transcript of an investigation, and says so when it was never asked that."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import ValidationError

from tocsin_agents.loop.watching import Stop, StoppedError
from tocsin_agents.models.port import (
    Answer,
    ModelAwayError,
    ModelRefusedError,
    OnText,
    Question,
)
from tocsin_agents.models.prices import Price
from tocsin_agents.tools.port import Identity, Tool, ToolContext, ToolResult, ToolSpec
from tocsin_contracts import Extension, Value
from tocsin_kit.errors import PermanentError
from tocsin_kit.spending import Spending
from tocsin_rca.recording import digests
from tocsin_rca.recording.entries import (
    Accounts,
    Beginning,
    End,
    Exchange,
    Granted,
    Listing,
    Look,
    Part,
    ToolUse,
)
from tocsin_rca.recording.tape import Heard

V = TypeVar("V", bound=Value)

MOST_NAMED = 5
MOST_SECONDS = 1.0
"""That a result waits for those which came before it, and which may not be asked for any more."""


class NotRecordedError(PermanentError):
    """The code asks something else than it did when this was recorded."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the replay asked for something that was not recorded: {what}")


class Prompter:
    """The transcript of one attempt while it is played; time passes as it did then.

    PermanentError for entries of another version.
    """

    def __init__(self, entries: Mapping[str, bytes]) -> None:
        self._entries = entries
        self._exchanges = [one for _, one in _all(entries, "model:", Exchange)]
        self._number = 0
        self._made: Counter[str] = Counter()
        self._came = 0
        self._coming = asyncio.Condition()
        self._asked_at = self.elapsed = 0.0
        self._unrecorded: NotRecordedError | None = None
        self.name = self.beginning.model

    @property
    def beginning(self) -> Beginning:
        """What it began with; PermanentError if that was not recorded."""
        if "begin" not in self._entries:
            raise PermanentError("how the investigation began was not recorded")
        return _read(Beginning, self._entries["begin"])

    @property
    def end(self) -> End | None:
        """What it came to; None if it never came to an end."""
        return _read(End, self._entries["end"]) if "end" in self._entries else None

    @property
    def extensions(self) -> Sequence[Extension]:
        """What people answered to its pauses, in their order."""
        return [one.extension for _, one in _all(self._entries, "budget:", Granted)]

    @property
    def looks(self) -> dict[str, Heard]:
        """What was looked up, by its question."""
        return {one.question: one.heard for _, one in _all(self._entries, "look:", Look)}

    async def today(self, source: str) -> tuple[Spending, Spending]:
        """Return what was spent that day before this exchange; nothing where no limit holds."""
        del source
        seen = self._entries.get(f"ledger:{self._number:04}")
        found = _read(Accounts, seen) if seen else Accounts()
        return found.of_source, found.of_day

    async def count(self, source: str, spent: Spending) -> tuple[Spending, Spending]:
        """Count nothing: what was spent then is known."""
        del spent
        return await self.today(source)

    async def price(self) -> Price | None:
        """Return what the model was known to cost then."""
        return self.beginning.price

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Return what the model answered to this very question then."""
        del on_text
        if self._unrecorded:
            raise self._unrecorded
        exchange = self._next(digests.parts(question))
        self._number, self._made, self._came = exchange.number, Counter(), 0
        self.elapsed += exchange.seconds or 0
        self._asked_at = self.elapsed
        if exchange.error:
            raise (ModelAwayError if exchange.away else ModelRefusedError)(exchange.error)
        if exchange.answer is None:
            raise StoppedError(Stop.TIME)
        return exchange.answer

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return the tools that there were when the model was asked next."""
        del identity
        following = self._exchanges[self._number : self._number + 1] or self._exchanges[-1:]
        listed = f"tools:{following[0].listed}" if following else ""
        if listed not in self._entries:
            return []
        return [PlayedTool(one, self) for one in _read(Listing, self._entries[listed]).tools]

    async def result(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Return what a tool gave to this call after this exchange, when its turn has come."""
        digest = digests.of_call(tool, arguments)
        self._made[digest] += 1
        name = f"tool:{self._number:04}:{digest}:{self._made[digest]}"
        use = _read(ToolUse, self._entries[name]) if name in self._entries else None
        if use is None or use.lost:
            why = f", as {use.lost}" if use else ""
            called = f"{tool} {dict(arguments)!r}"
            self._unrecorded = NotRecordedError(f"{called[:300]} after answer {self._number}{why}")
            raise self._unrecorded
        await self._turn(use)
        if use.result is None:
            raise StoppedError(Stop.TIME)
        return use.result

    async def _turn(self, use: ToolUse) -> None:
        """Wait for the results that came before this one; what never came is the last."""
        uses = (one for _, one in _all(self._entries, f"tool:{self._number:04}:", ToolUse))
        before = use.order - 1 if use.order else sum(one.order > 0 for one in uses)
        async with self._coming:
            with suppress(TimeoutError):  # the next question will say that they came otherwise
                async with asyncio.timeout(MOST_SECONDS):
                    while self._came < before:
                        await self._coming.wait()
            self._came += 1
            took = self.beginning.limits.call.tool_seconds if use.seconds is None else use.seconds
            self.elapsed = max(self.elapsed, self._asked_at + took)
            self._coming.notify_all()

    def _next(self, parts: Sequence[Part]) -> Exchange:
        which = f"question {self._number + 1} to the model"
        if self._number >= len(self._exchanges):
            raise NotRecordedError(f"{which}; there were only {self._number}")
        found = self._exchanges[self._number]
        if digests.whole(found.parts) != digests.whole(parts):
            others = list(digests.differing(found.parts, parts))[:MOST_NAMED]
            raise NotRecordedError(f"{which}: {'; '.join(others)}")
        return found


class PlayedTool:
    """A tool as it was; it gives what it gave."""

    def __init__(self, spec: ToolSpec, prompter: Prompter) -> None:
        self.spec = spec
        self._prompter = prompter

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Return what this call gave then."""
        del context
        return await self._prompter.result(self.spec.name, arguments)


def _all(entries: Mapping[str, bytes], kind: str, of: type[V]) -> Iterator[tuple[str, V]]:
    for name in sorted(entries):
        if name.startswith(kind):
            yield name, _read(of, entries[name])


def _read(kind: type[V], data: bytes) -> V:
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise PermanentError("the transcript is of another version") from error
