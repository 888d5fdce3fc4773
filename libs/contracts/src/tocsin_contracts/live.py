"""What goes on in a run this very moment, for whoever looks on: never stored, and maybe lost."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value
from tocsin_contracts.event import RunId

LIVE_PREFIX = "tocsin-live"


def _now() -> datetime:
    return datetime.now(UTC)


class LiveEvent(Value):
    """Something goes on. It is no fact: nobody has to hear it, and nothing may depend on it."""

    kind: ClassVar[str]

    run_id: RunId = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    at: AwareDatetime = Field(default_factory=_now)
    agent: str = Field(description="Who is at work.")

    @property
    def subject(self) -> str:
        """Where it is told."""
        return f"{LIVE_PREFIX}.{self.run_id}.{self.kind}"


class TextWritten(LiveEvent):
    """A model wrote the next words of an answer that is not whole yet."""

    kind: ClassVar[str] = "text"

    text: str


class ModelCalled(LiveEvent):
    """A model's answer is whole; a cost in US dollars that nobody knows is null, and not zero."""

    kind: ClassVar[str] = "model-called"

    model: str
    input_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0, description="Of the input.")
    output_tokens: int = Field(default=0, ge=0)
    cost: Decimal | None = Field(default=None, ge=0)


class ToolCalled(LiveEvent):
    """A tool is being used."""

    kind: ClassVar[str] = "tool-called"

    call: str
    tool: str
    arguments: str = Field(default="", description="The beginning, on one line.")


class ToolProgressed(LiveEvent):
    """A tool that is being used says how far it is."""

    kind: ClassVar[str] = "tool-progressed"

    call: str
    tool: str
    text: str


class ToolAnswered(LiveEvent):
    """A call of a tool is answered."""

    kind: ClassVar[str] = "tool-answered"

    call: str
    tool: str
    status: str = Field(description="`ok`, `error` or `refused`.")
    seconds: float = Field(ge=0)
    ref: str = Field(default="", description="Finds the whole output.")


class ChatMoved(LiveEvent):
    """A chat has a new frame: look. Whoever misses it looks a little later anyway."""

    kind: ClassVar[str] = "chat-moved"


LIVE_EVENTS: tuple[type[LiveEvent], ...] = (
    TextWritten,
    ModelCalled,
    ToolCalled,
    ToolProgressed,
    ToolAnswered,
    ChatMoved,
)
"""Every kind there is."""
