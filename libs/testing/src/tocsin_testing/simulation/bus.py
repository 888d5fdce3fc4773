"""A bus in memory that stores once, delivers at least once, late, twice and in any order."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tocsin_contracts import Event
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.moves import ANY, Move
from tocsin_kit.runs import RunStore
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind
from tocsin_kit.work import Handler, Work
from tocsin_testing.simulation.lives import LIFE, Fate, Life

ACK_WAIT = 30.0
RENEW_EVERY = 3.0
RESTART = 2.0
LATEST = 3.0

Consume = Callable[[Any], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a kind of message; a service that moves runs ends those of its dead letters."""

    service: str
    consume: Consume
    moves_runs: bool = True


@dataclass
class Stream:
    """Every fact in its order, who reads them, and what is still on its way."""

    fate: Fate
    facts: list[Event] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)
    readers: dict[str, list[Reader]] = field(default_factory=dict)
    failing: dict[str, Work] = field(default_factory=dict)
    heard: list[Callable[[Event], None]] = field(default_factory=list)
    _lives: dict[str, Life] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _rung: set[str] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def store(self, event: Event) -> None:
        """Keep the event unless its id is known, and bring it to its readers."""
        if event.id in self._known:
            return
        self._known.add(event.id)
        self.facts.append(event)
        for each in self.heard:
            each(event)
        self.deliver(event.topic, event)
        if self.fate.chance.happens(self.fate.faults.copy):
            self.deliver(event.topic, event, self.fate.chance.uniform(0.0, 60.0))

    async def set_timer(self, timer: Timer) -> None:
        """Bring the timer to its owner when it is due; one of its id is one timer."""
        if timer.id in self._rung:
            return
        self._rung.add(timer.id)
        due = max(0.0, (timer.due_at - self.fate.now()) / timedelta(seconds=1))
        self.deliver(f"timer:{timer.kind}", timer, due, counted=False)

    def deliver(self, kind: str, message: Any, after: float = 0.0, *, counted: bool = True) -> None:
        """Begin to bring a message to everybody who reads its kind."""
        for reader in self.readers.get(kind, ()):
            name = f"{reader.service}-{kind}" if counted else ""
            task = asyncio.create_task(self._bring(reader, message, after, name))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def life(self, service: str) -> Life | None:
        """Return the process of a service; None while it starts again."""
        life = self._lives.setdefault(service, Life(service))
        if not life.alive:
            self._lives[service] = Life(service)
            return None
        return life

    async def _bring(self, reader: Reader, message: Any, after: float, name: str) -> None:
        """Deliver until it is settled; what waits is counted under a name."""
        if name:
            self.waiting[name] = self.waiting.get(name, 0) + 1
        fate, faults = self.fate, self.fate.faults
        await asyncio.sleep(after + fate.chance.uniform(0.0, LATEST))
        if fate.chance.happens(faults.lose_delivery):
            await asyncio.sleep(ACK_WAIT)
        wait = await self._try(reader, message)
        while wait is not None:
            await asyncio.sleep(wait)
            wait = await self._try(reader, message)
        if name:
            self.waiting[name] -= 1

    async def _try(self, reader: Reader, message: Any) -> float | None:
        """Deliver once; return in how many seconds it comes again, None once it is settled."""
        life = self.life(reader.service)
        if life is None:
            return RESTART
        if seconds := life.frozen:
            return seconds
        token = LIFE.set(life)
        task = asyncio.create_task(reader.consume(message))
        LIFE.reset(token)
        self._tasks.add(task)
        task.add_done_callback(_heard)
        while not task.done():
            await asyncio.wait({task}, timeout=ACK_WAIT)
            if not task.done() and (life.frozen or not life.alive):
                return 0.0
        self._tasks.discard(task)
        return await self._settled(reader, message, task)

    async def _settled(
        self, reader: Reader, message: Any, task: "asyncio.Task[None]"
    ) -> float | None:
        error = task.exception()
        if isinstance(error, TransientError):
            return error.retry_in
        if isinstance(error, PermanentError) and reader.moves_runs:
            try:
                await self.failing[reader.service].fail(message.run_id, message.id, str(error))
            except TransientError as late:
                return late.retry_in
        if error is not None:
            self.letters.append(f"{reader.service}: {error!r}")
            return None
        return ACK_WAIT if self.fate.chance.happens(self.fate.faults.lose_ack) else None


def _heard(task: "asyncio.Task[None]") -> None:
    """Nobody asks any more how the work of a process ended that was taken for dead."""
    if not task.cancelled():
        task.exception()


class SimulatedBus:
    """The bus of one service: what its wiring subscribes is under the real protocol."""

    def __init__(self, stream: Stream, service: str, runs: RunStore) -> None:
        self._stream = stream
        self._service = service
        self._work = Work(service, runs, self.publish, RENEW_EVERY)
        stream.failing[service] = Work(service, runs, self._store, RENEW_EVERY)

    async def publish(self, event: Event) -> None:
        """Store the event, unless the process dies or the bus does not answer."""
        await self._stream.fate.step("publish", done=False)
        self._stream.store(event)
        await self._stream.fate.step("publish", done=True)

    def on(self, event_type: type[Event], handler: Handler[Any], allowed: Move = ANY) -> None:
        """Call the handler for each event of a type, as the real bus does."""

        async def consume(event: Event) -> None:
            await self._work.handle(event, handler, allowed)

        self._read(event_type.topic, consume)

    def watch(self, event_type: type[Event], handler: Consume) -> None:
        """Call the handler for each event of a type, also while somebody works on its run."""
        self._read(event_type.topic, handler, moves_runs=False)

    def on_timer(
        self, kind: TimerKind, handler: Callable[[Timer], Awaitable[Any]], allowed: Move
    ) -> None:
        """Call the handler when a timer comes due, under the same protocol."""

        async def consume(timer: Timer) -> None:
            async def answer(_: Event) -> Any:
                return await handler(timer)

            await self._work.handle(timer.as_event(), answer, allowed)

        self._read(f"timer:{kind}", consume)

    def _read(self, kind: str, consume: Consume, *, moves_runs: bool = True) -> None:
        reader = Reader(self._service, consume, moves_runs)
        self._stream.readers.setdefault(kind, []).append(reader)

    async def _store(self, event: Event) -> None:
        self._stream.store(event)
