"""What people ask agents in a chat, and what becomes of it: a session is a row of turns."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import AwareDatetime, Field, TypeAdapter

from tocsin_contracts.base import Value
from tocsin_contracts.event import Event
from tocsin_contracts.usage import ModelUse

LONGEST_QUESTION = 8000
MOST_ATTACHED = 20
"""Files that one question may come with."""

_ID = r"^[A-Za-z0-9_-]{1,64}$"
_NAME = r"^[A-Za-z0-9._:/-]{0,253}$"

Words = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION, pattern=r"\S")]


class ChatMode(StrEnum):
    """How much a chat may do: only look, or also start a run that ends at people's approval."""

    ASK = "ask"
    AGENT = "agent"


class AttachmentKind(StrEnum):
    """What a file is, by its bytes and not by its name."""

    TEXT = "text"
    IMAGE = "image"


class Attachment(Value):
    """A file that somebody handed over, by reference; its name is untrusted, as its bytes are."""

    id: str = Field(pattern=r"^[0-9a-f]{16}$")
    name: str = Field(max_length=200)
    kind: AttachmentKind
    media_type: str = Field(max_length=100)
    size: int = Field(ge=0, description="Bytes.")


class ChatContext(Value):
    """What a question is about, as structure; nothing of it is an instruction."""

    run: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$", description="A run, if any.")
    cluster: str = Field(default="", pattern=_NAME, description="Empty: all that are connected.")
    model: str = Field(
        default="", pattern=_NAME, description="A model that is set, as provider/name."
    )


class ChatAsked(Event):
    """A person asked in a chat; the run of this event is the session, a turn is a question."""

    topic: ClassVar[str] = "chat.question-asked.v1"

    turn: str = Field(pattern=_ID)
    question: str = Field(max_length=LONGEST_QUESTION)
    mode: ChatMode = ChatMode.ASK
    context: ChatContext = ChatContext()
    by: str = Field(description="Who the connection proved, whatever the question says.")
    surface: str = Field(default="", description="Where it was asked, such as `gateway`.")
    reply_to: str = Field(default="", description="What the surface finds the question by.")
    attachments: tuple[Attachment, ...] = Field(default=(), max_length=MOST_ATTACHED)


class ChatEnding(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    LIMITED = "limited"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ChatAnswered(Event):
    """A question has its answer; `started` are the runs that it began."""

    topic: ClassVar[str] = "chat.question-answered.v1"

    turn: str
    ending: ChatEnding
    words: str = Field(description="Of a model: shown as text, never rendered.")
    by: str = Field(description="Who asked.")
    surface: str = ""
    reply_to: str = ""
    started: tuple[str, ...] = ()
    model_use: ModelUse | None = None


class ChatTurn(Value):
    """One question with its answer, as the history keeps it."""

    turn: str
    at: AwareDatetime
    question: str
    mode: ChatMode = ChatMode.ASK
    attachments: tuple[Attachment, ...] = ()
    ending: ChatEnding
    answer: str
    started: tuple[str, ...] = ()
    model_use: ModelUse | None = None


class Init(Value):
    """Opens a session, or one that is known again: frames after `last` follow."""

    type: Literal["init"] = "init"
    session: str = Field(default="", pattern=r"^(c[0-9a-f]{24})?$", description="Empty: a new one.")
    last: int = Field(default=0, ge=0, description="The number of the last frame that was seen.")


class Query(Value):
    """Asks a question; one at a time."""

    type: Literal["query"] = "query"
    text: Words
    mode: ChatMode = ChatMode.ASK
    context: ChatContext = ChatContext()
    attachments: tuple[str, ...] = Field(
        default=(), max_length=MOST_ATTACHED, description="Ids of files that were handed over."
    )


class Stop(Value):
    """Ends the turn that is under way, whoever works on it."""

    type: Literal["control/cancel"] = "control/cancel"


class Confirmation(Value):
    """Answers a confirmation request; without an answer it is no."""

    type: Literal["confirmation"] = "confirmation"
    id: str = Field(pattern=_ID, description="That of the request.")
    approved: bool


ClientMessage = Init | Query | Stop | Confirmation

CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)
"""Reads what a client of a chat sends."""


class SessionView(Value):
    """A session with its history, the oldest turn first; `turn` is the one that is under way."""

    session: str
    turn: str = ""
    last: int = Field(default=0, description="The number of the newest frame.")
    turns: tuple[ChatTurn, ...] = ()


class AttachedView(Value):
    """The files that were taken; a query names them by their ids."""

    session: str
    attachments: tuple[Attachment, ...]
