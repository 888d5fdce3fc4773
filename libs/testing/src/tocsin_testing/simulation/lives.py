"""Processes that die, freeze and lose answers between any two steps, as a seed decides.

A dead one does nothing any more, not even clean up: whoever waits for it waits for ever.
"""

import asyncio
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from tocsin_kit.errors import TransientError
from tocsin_testing.build import NOW
from tocsin_testing.chaos.chance import Chance

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Faults:
    """How likely each fault is: the first four at a step of a process, the others at a message."""

    crash: float = 0.015
    freeze: float = 0.01
    refuse: float = 0.01
    lose_answer: float = 0.01
    lose_delivery: float = 0.05
    lose_ack: float = 0.05
    copy: float = 0.05

    def healed(self) -> "Faults":
        """Return peace."""
        return replace(self, **dict.fromkeys(self.__slots__, 0.0))


@dataclass(slots=True)
class Life:
    """One process from its start to its end."""

    service: str
    alive: bool = True
    thaws: float = 0.0

    @property
    def frozen(self) -> float:
        """For how many seconds nothing of it moves; 0 for one that runs."""
        return max(0.0, self.thaws - asyncio.get_running_loop().time())


LIFE: ContextVar[Life | None] = ContextVar("tocsin_life", default=None)


@dataclass
class Fate:
    """Decides what happens at each step, and what time it is."""

    chance: Chance
    faults: Faults = field(default_factory=Faults)
    over: bool = False
    happened: list[str] = field(default_factory=list)

    def now(self) -> datetime:
        """Return the virtual time."""
        return NOW + timedelta(seconds=asyncio.get_running_loop().time())

    async def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(seconds)

    async def step(self, what: str, *, done: bool) -> None:
        """Go on after a moment, or not; TransientError for a call that failed or seemed to."""
        life = LIFE.get()
        if life is None:
            return
        await asyncio.sleep(self.chance.uniform(0.0, 0.05))
        if self.chance.happens(self.faults.crash):
            life.alive = False
            self.happened.append(f"{life.service} died at {what}")
        if self.chance.happens(self.faults.freeze):
            life.thaws = asyncio.get_running_loop().time() + self.chance.uniform(5.0, 40.0)
            self.happened.append(f"{life.service} froze at {what}")
        while life.alive and life.frozen:
            seconds = life.frozen
            await asyncio.sleep(seconds)
        await self._live(life)
        if self.chance.happens(self.faults.lose_answer if done else self.faults.refuse):
            raise TransientError(f"{what} did not answer", retry_in=1.0)

    async def _live(self, life: Life) -> None:
        """Return at once for the living, and never for the dead."""
        while not life.alive:
            if self.over:
                raise asyncio.CancelledError
            await asyncio.get_running_loop().create_future()

    def around(self, inner: T) -> T:
        """Return the same port, with a step before and after each call of it."""
        return cast("T", _Mortal(inner, self))


class _Mortal:
    """Calls what it stands for, if the caller lives."""

    def __init__(self, inner: Any, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._mortal(name, found) if inspect.iscoroutinefunction(found) else found

    def _mortal(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        async def called(*args: Any, **kwargs: Any) -> Any:
            await self._fate.step(name, done=False)
            answer = await call(*args, **kwargs)
            await self._fate.step(name, done=True)
            return answer

        return called
