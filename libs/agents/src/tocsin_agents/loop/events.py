"""What can be watched while an agent works; plain values, without the text of a prompt."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tocsin_agents.instructions.segments import SegmentDigest
from tocsin_agents.models.port import Usage
from tocsin_agents.tools.port import Status
from tocsin_contracts.base import Value


class AgentEvent(Value):
    """Something happened in the work of an agent."""

    agent: str


class ModelAsked(AgentEvent):
    """A model was asked: which texts it was told, and how many messages were cut or left out."""

    model: str
    segments: tuple[SegmentDigest, ...]
    left_out: int = 0


class TextCame(AgentEvent):
    """A piece of an answer that is not whole yet."""

    text: str


class ModelAnswered(AgentEvent):
    """A model's answer is whole."""

    model: str
    usage: Usage


class ToolStarted(AgentEvent):
    """A tool is being used; `arguments` are as the model wrote them."""

    call: str
    tool: str
    arguments: str = ""


class ToolProgressed(AgentEvent):
    """A tool that is being used says how far it is."""

    call: str
    tool: str
    text: str


class ToolEnded(AgentEvent):
    """A call is answered; `ref` finds the whole output."""

    call: str
    tool: str
    status: Status
    seconds: float
    ref: str = ""


class ToolsAway(AgentEvent):
    """A toolset could not say what it has; the agent works without it."""

    why: str


class StateChanged(AgentEvent):
    """Values of the state were set, or removed by None; `temp:` is never among them."""

    changes: Mapping[str, Any]


class Transferred(AgentEvent):
    """The agent handed over."""

    to: str


Listener = Callable[[AgentEvent], Awaitable[None]]
"""Is told of events as they happen; a step that a crash interrupts tells them again."""


async def nobody(event: AgentEvent) -> None:
    """Listen to nothing."""
    del event
