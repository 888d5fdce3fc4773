"""What an agent and a model say to each other: plain values that any checkpoint can hold."""

from enum import StrEnum

from tocsin_contracts.base import Value


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(Value):
    """A tool that a model asks for; its arguments are JSON text, as the model wrote it."""

    id: str
    name: str
    arguments: str


class Message(Value):
    """One message of a conversation.

    `call` is the id of the call that a tool message answers. `author` is the agent that spoke.
    `stable` marks a text that stays the same from call to call, so that a provider may cache it.
    `ref` finds the full text of a tool message that was cut or may be left out.
    """

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call: str = ""
    author: str = ""
    stable: bool = False
    ref: str = ""
