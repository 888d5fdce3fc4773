"""The last look before a text leaves for a model's provider: secrets do not go along."""

import asyncio

from tocsin_agents.messages import Message
from tocsin_agents.models.port import Answer, Model, OnText, Question
from tocsin_agents.models.prices import Price
from tocsin_kit.redaction import Redactor


class Masked:
    """Asks a model with every text masked; a text that cannot be masked is not sent at all."""

    def __init__(self, inner: Model, redactor: Redactor | None = None) -> None:
        self._inner = inner
        self._redactor = redactor or Redactor()

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._inner.name

    async def price(self) -> Price | None:
        """Return what the model costs."""
        return await self._inner.price()

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Return what the model says to what may be seen."""
        return await self._inner.answer(await asyncio.to_thread(self._masked, question), on_text)

    def _masked(self, question: Question) -> Question:
        messages = tuple(map(self._message, question.messages))
        return question.model_copy(update={"messages": messages})

    def _message(self, message: Message) -> Message:
        calls = tuple(
            call.model_copy(update={"arguments": self._redactor.text(call.arguments)})
            for call in message.calls
        )
        return message.model_copy(
            update={"text": self._redactor.text(message.text), "calls": calls}
        )
