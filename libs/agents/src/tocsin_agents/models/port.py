"""What the agent layer asks of a language model, whoever runs it."""

from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from typing import Any, Protocol

from tocsin_agents.messages import Message, ToolCall
from tocsin_agents.models.prices import Price
from tocsin_contracts.base import Value
from tocsin_kit.errors import PermanentError, TransientError


class OfferedTool(Value):
    """A tool as a model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Usage(Value):
    """What calls have used. A cost in US dollars that nobody knows is None, which is not zero."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        """Return both together; with one unknown cost the sum is unknown."""
        unknown = self.cost is None or other.cost is None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=None if unknown else (self.cost or Decimal(0)) + (other.cost or Decimal(0)),
        )


class Question(Value):
    """One call of a model. `forced` is the tool that it must answer with, if any."""

    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...] = ()
    forced: str = ""
    most_tokens: int = 4096


class Answer(Value):
    """What a model said; `thought` is its reasoning, which is never shown as an answer."""

    model: str
    text: str = ""
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    cut_off: bool = False


class ModelAwayError(TransientError):
    """The model did not answer in time, or asked to be left alone for `retry_in` seconds."""


class ModelRefusedError(PermanentError):
    """The model will never take this question: too long, forbidden, or an unknown model or key."""


OnText = Callable[[str], Awaitable[None]]
"""Is told each piece of an answer's text as it comes.

An empty piece says that the answer goes on with something else, such as a thought or a call.
"""


class Model(Protocol):
    """Answers questions. Raises ModelAwayError or ModelRefusedError."""

    @property
    def name(self) -> str:
        """What it is called in evidence, metrics and bills."""

    async def price(self) -> Price | None:
        """Return what the model that is asked first costs; None if nobody knows."""

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Return the whole answer; what is cancelled stops at once and is not paid further."""
