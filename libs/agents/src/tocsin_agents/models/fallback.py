"""Several models as one: the next is asked when one is away or refuses."""

from collections.abc import Sequence

from tocsin_agents.models.port import (
    Answer,
    Model,
    ModelAwayError,
    ModelRefusedError,
    OnText,
    Question,
)
from tocsin_agents.models.prices import Price
from tocsin_agents.models.telling import Telling
from tocsin_kit import logging

log = logging.get(__name__)


class Fallback:
    """Models in the order in which they are asked; an answer says which of them gave it."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = tuple(models)

    @property
    def name(self) -> str:
        """The name of the first."""
        return self._models[0].name

    async def price(self) -> Price | None:
        """Return the price of the first."""
        return await self._models[0].price()

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Return the first answer. If one was only away, so are all: another time may do."""
        telling = Telling(on_text)
        failed: list[ModelAwayError | ModelRefusedError] = []
        for model in self._models:
            try:
                return await model.answer(question, telling.listener)
            except (ModelAwayError, ModelRefusedError) as error:
                log.warning("model.passed_over", model=model.name, why=str(error))
                failed.append(error)
            await telling.again()
        raise _joined(failed)


def _joined(
    failed: Sequence[ModelAwayError | ModelRefusedError],
) -> ModelAwayError | ModelRefusedError:
    said = "; ".join(map(str, failed))
    wishes = [error.retry_in for error in failed if isinstance(error, ModelAwayError)]
    return ModelAwayError(said, retry_in=min(wishes)) if wishes else ModelRefusedError(said)
