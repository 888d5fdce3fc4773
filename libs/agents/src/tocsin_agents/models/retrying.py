"""The one place that asks a model again: a few times, and no sooner than it wished."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import SystemRandom

from tocsin_agents.models.port import Answer, Model, ModelAwayError, OnText, Question
from tocsin_agents.models.prices import Price
from tocsin_agents.models.telling import Telling
from tocsin_kit import logging

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Pauses:
    """How to wait between tries, in seconds.

    A pause is twice as long as the one before it, at least what the model asked for, and up to
    half as long again by `chance`, so that several who wait do not come back together. Whoever
    would have to wait longer than `longest` gives up at once: another model, or another time.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = SystemRandom().random
    longest: float = 30

    def after(self, tries: int, wish: float) -> float:
        """Return the pause after so many tries."""
        return max(wish, 2.0 ** (tries - 1)) * (1 + self.chance() / 2)


class Retrying:
    """A model that is asked again while it is away; what it refuses is not asked again."""

    def __init__(self, model: Model, attempts: int = 3, pauses: Pauses | None = None) -> None:
        self._model = model
        self._attempts = attempts
        self._pauses = pauses or Pauses()

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self._model.name

    async def price(self) -> Price | None:
        """Return the price of the model itself."""
        return await self._model.price()

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Return the first answer; raise what the last try raised."""
        telling, tries = Telling(on_text), 0
        while True:
            tries += 1
            try:
                return await self._model.answer(question, telling.listener)
            except ModelAwayError as error:
                pause = self._pauses.after(tries, error.retry_in)
                if tries >= self._attempts or pause > self._pauses.longest:
                    raise
                log.warning("model.away", model=self.name, why=str(error), again_in=round(pause, 1))
            await self._pauses.sleep(pause)
            await telling.again()
