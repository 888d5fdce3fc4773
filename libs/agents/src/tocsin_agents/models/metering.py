"""Counts what each call of a model uses: for Prometheus, and for whoever pays attention."""

import time
from collections.abc import Awaitable, Callable

from tocsin_agents.models.port import (
    Answer,
    Model,
    ModelAwayError,
    ModelRefusedError,
    OnText,
    Question,
    Usage,
)
from tocsin_agents.models.prices import Price
from tocsin_kit.metrics import Counter

CALLS = Counter("tocsin_model_calls_total", "Calls of models, by how they ended.", ["model", "end"])
SECONDS = Counter("tocsin_model_seconds_total", "Seconds that calls of models took.", ["model"])
TOKENS = Counter("tocsin_model_tokens_total", "Tokens of models, by kind.", ["model", "kind"])
DOLLARS = Counter("tocsin_model_cost_dollars_total", "What calls of models cost.", ["model"])
UNPRICED = Counter("tocsin_model_unpriced_total", "Calls whose cost nobody knows.", ["model"])

OnUsage = Callable[[str, Usage], Awaitable[None]]
"""Is told the model's name and what an answer used, before anybody sees the answer."""


class Metered:
    """A model whose calls are counted; one that fails or is cancelled counts as a call too."""

    def __init__(
        self,
        model: Model,
        on_usage: OnUsage | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._on_usage = on_usage
        self._clock = clock

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self._model.name

    async def price(self) -> Price | None:
        """Return the price of the model itself."""
        return await self._model.price()

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Ask, count, and tell what it used."""
        began, end = self._clock(), "cancelled"
        try:
            answer = await self._model.answer(question, on_text)
            end = "answered"
        except ModelAwayError:
            end = "away"
            raise
        except ModelRefusedError:
            end = "refused"
            raise
        finally:
            CALLS.labels(self.name, end).inc()
            SECONDS.labels(self.name).inc(self._clock() - began)
        _count(self.name, answer.usage)
        if self._on_usage:
            await self._on_usage(self.name, answer.usage)
        return answer


def _count(model: str, used: Usage) -> None:
    kinds = {
        "input": used.input_tokens - used.cached_tokens,
        "cached": used.cached_tokens,
        "output": used.output_tokens,
    }
    for kind, tokens in kinds.items():
        TOKENS.labels(model, kind).inc(max(0, tokens))
    if used.cost is None:
        UNPRICED.labels(model).inc()
    else:
        DOLLARS.labels(model).inc(float(used.cost))
