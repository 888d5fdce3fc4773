"""Tells who looks on what an agent is doing, while it does it: masked, short, not too often."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tocsin_agents.loop import events
from tocsin_agents.loop.events import AgentEvent, Listener
from tocsin_contracts import (
    LiveEvent,
    ModelCalled,
    RunId,
    TextWritten,
    ToolAnswered,
    ToolCalled,
    ToolProgressed,
)
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import MARK, clean, line
from tocsin_rca.investigation.listening import logged
from tocsin_rca.investigation.ports import Lookers
from tocsin_rca.ports import Clock

BETWEEN = timedelta(milliseconds=100)
"""The least between two texts of an agent, and between two words of a call of a tool."""

MOST_TEXT = 16_000
"""Characters of one answer that are told."""

MOST_LINE = 500
"""Characters of a tool's arguments, or of its words, that are told."""

MOST_READ = 20_000
"""Characters of those that are looked through for secrets."""

Listening = Callable[[RunId], AbstractAsyncContextManager[Listener]]
"""Listens to the work on a run while the block lasts."""


@asynccontextmanager
async def only_logged(run_id: RunId) -> AsyncIterator[Listener]:
    """Tell the log, and nobody else."""
    del run_id
    yield logged


@dataclass(frozen=True, slots=True)
class Broadcasting:
    """Tells those who look on, and the log; what they hear has no secret that can be told."""

    lookers: Lookers
    redactor: Redactor
    clock: Clock

    @asynccontextmanager
    async def of(self, run_id: RunId) -> AsyncIterator[Listener]:
        """Listen to the work on a run; at the end, what was kept back is told."""
        broadcast = _Broadcast(run_id, self)

        async def hear(event: AgentEvent) -> None:
            await logged(event)
            await broadcast.hear(event)

        try:
            yield hear
        finally:
            await broadcast.end()


@dataclass(slots=True)
class _Words:
    """What an agent's model has written of an answer, and what of it was shown, masked."""

    pieces: list[str] = field(default_factory=list)
    shown: str = ""
    full: bool = False
    told_at: datetime | None = None

    def fresh(self, redactor: Redactor, *, whole: bool) -> str:
        """Return what can be shown beside what was: no part of a word that may be a secret."""
        if self.full:
            return ""
        text = "".join(self.pieces)
        self.full = len(text) > MOST_TEXT
        if self.full or not whole:
            text = redactor.settled(text[:MOST_TEXT])
        masked = redactor.text(clean(text, len(text)).text) + (MARK if self.full else "")
        before, self.shown = self.shown, masked
        return masked[_common(before, masked) :]


@dataclass(slots=True)
class _Broadcast:
    run_id: RunId
    to: Broadcasting
    _words: defaultdict[str, _Words] = field(default_factory=lambda: defaultdict(_Words))
    _told_at: dict[str, datetime] = field(default_factory=dict)
    _kept: dict[str, ToolProgressed] = field(default_factory=dict)

    async def hear(self, event: AgentEvent) -> None:
        """Tell an event, now or with the next one; what the log alone is told is not told here."""
        match event:
            case events.TextCame():
                await self._wrote(event)
            case events.ToolProgressed():
                await self._progressed(event)
            case events.ModelAsked() | events.ModelAnswered():
                await self._written(event.agent)
            case events.ToolEnded(call=call):
                await self._kept_back(call)
                self._told_at.pop(call, None)
        told = self._plain(event)
        if told:
            await self.to.lookers.tell(told)

    async def end(self) -> None:
        """Tell what was kept back."""
        for agent in tuple(self._words):
            await self._written(agent)
        for call in tuple(self._kept):
            await self._kept_back(call)

    async def _wrote(self, event: events.TextCame) -> None:
        words = self._words[event.agent]
        if not words.full:
            words.pieces.append(event.text)
        if self._is_due(words.told_at):
            words.told_at = self.to.clock.now()
            await self._show(event.agent, words, whole=False)

    async def _written(self, agent: str) -> None:
        if agent in self._words:
            await self._show(agent, self._words.pop(agent), whole=True)

    async def _show(self, agent: str, words: _Words, *, whole: bool) -> None:
        text = words.fresh(self.to.redactor, whole=whole)
        if text:
            await self.to.lookers.tell(TextWritten(**self._by(agent), text=text))

    async def _progressed(self, event: events.ToolProgressed) -> None:
        self._kept[event.call] = ToolProgressed(
            **self._by(event.agent),
            call=line(event.call),
            tool=event.tool,
            text=self._line(event.text),
        )
        if self._is_due(self._told_at.get(event.call)):
            self._told_at[event.call] = self.to.clock.now()
            await self._kept_back(event.call)

    async def _kept_back(self, call: str) -> None:
        if call in self._kept:
            await self.to.lookers.tell(self._kept.pop(call))

    def _plain(self, event: AgentEvent) -> LiveEvent | None:
        by = self._by(event.agent)
        match event:
            case events.ModelAnswered(model=model, usage=used):
                return ModelCalled(**by, model=model, **dict(used))
            case events.ToolStarted(call=call, tool=tool, arguments=given):
                return ToolCalled(**by, call=line(call), tool=tool, arguments=self._line(given))
            case events.ToolEnded(call=call, tool=tool, status=status, seconds=took, ref=ref):
                took = max(0.0, round(took, 2))
                return ToolAnswered(
                    **by, call=line(call), tool=tool, status=status.value, seconds=took, ref=ref
                )
        return None

    def _by(self, agent: str) -> dict[str, object]:
        return {"run_id": self.run_id, "at": self.to.clock.now(), "agent": agent}

    def _is_due(self, told_at: datetime | None) -> bool:
        return told_at is None or self.to.clock.now() - told_at >= BETWEEN

    def _line(self, text: str) -> str:
        return line(self.to.redactor.text(text[:MOST_READ]), MOST_LINE)


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    if other.startswith(one):
        return len(one)
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
