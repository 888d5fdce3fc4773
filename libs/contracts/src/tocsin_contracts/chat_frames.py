"""What a client of a chat hears, frame by frame: typed, and numbered within its session."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter

from tocsin_contracts.base import Value
from tocsin_contracts.chat import ChatEnding
from tocsin_contracts.usage import ModelUse


class ChatState(StrEnum):
    """How a turn stands.

    `resumed`: another worker goes on, so words since the last call of a tool are said again.
    `gap`: frames before this one are gone; the history has the answers.
    """

    OPENED = "opened"
    ASKED = "asked"
    WORKING = "working"
    RESUMED = "resumed"
    GAP = "gap"
    CANCELLING = "cancelling"
    ENDED = "ended"


class ChatFrame(Value):
    """One frame. Numbers of a session rise by one; 0 is a frame of this connection alone."""

    number: int = Field(default=0, ge=0)
    turn: str = ""
    at: AwareDatetime


class StatusFrame(ChatFrame):
    """How the turn stands; the last frame of a turn says how it ended."""

    type: Literal["status"] = "status"
    state: ChatState
    session: str = Field(default="", description="Of `opened`.")
    text: str = ""
    ending: ChatEnding | None = Field(default=None, description="Of `ended`.")
    started: tuple[str, ...] = Field(default=(), description="Runs that the turn began.")


class MessageFrame(ChatFrame):
    """The next words of the answer: untrusted text, never rendered."""

    type: Literal["message"] = "message"
    text: str


class ToolCallFrame(ChatFrame):
    """A tool is being used."""

    type: Literal["tool_call"] = "tool_call"
    call: str
    tool: str
    arguments: str = Field(default="", description="The beginning, on one line.")


class ToolResultFrame(ChatFrame):
    """A tool answered."""

    type: Literal["tool_result"] = "tool_result"
    call: str
    tool: str
    seconds: float = Field(ge=0)


class ToolErrorFrame(ChatFrame):
    """A call of a tool failed or was refused; the agent goes on."""

    type: Literal["tool_error"] = "tool_error"
    call: str
    tool: str
    status: str
    seconds: float = Field(ge=0)


class ConfirmationRequestFrame(ChatFrame):
    """The agent wants to do more than look: whoever asked says yes, or it is not done."""

    type: Literal["confirmation_request"] = "confirmation_request"
    id: str
    tool: str
    arguments: str
    until: AwareDatetime = Field(description="Then it is no.")


class UsageFrame(ChatFrame):
    """What a call of the model used, or at the end the whole turn, as `total`."""

    type: Literal["usage"] = "usage"
    model: str = ""
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost: Decimal | None = Field(default=None, description="Null: nobody knows.")
    total: ModelUse | None = None


class ErrorFrame(ChatFrame):
    """Something was not done, and what to do about it."""

    type: Literal["error"] = "error"
    error: str
    hint: str = ""


Frame = (
    StatusFrame
    | MessageFrame
    | ToolCallFrame
    | ToolResultFrame
    | ToolErrorFrame
    | ConfirmationRequestFrame
    | UsageFrame
    | ErrorFrame
)

FRAME: TypeAdapter[Frame] = TypeAdapter(Annotated[Frame, Field(discriminator="type")])
"""Reads a frame."""
