"""What agents and tools there are, and the direct use of one: asked by request and reply."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value
from tocsin_contracts.capability import Capability
from tocsin_contracts.chat import ChatMode

CALL_SECONDS = 60.0
"""How long whoever asks waits for the end of a call."""

_NAME = r"^[a-z0-9_.-]{1,128}$"


class CallStatus(StrEnum):
    """How a call of a tool ended; a refused one was never made."""

    STARTED = "started"
    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"


class ToolsAsked(Value):
    """Which tools there are for somebody, whom the surface has authenticated."""

    subject: ClassVar[str] = "tocsin-ask.rca.tools"

    by: str
    mode: ChatMode = ChatMode.ASK


class ToolOffer(Value):
    """A tool that may be used now; `parameters` is the JSON schema of what it takes."""

    name: str
    server: str
    capability: Capability
    description: str
    parameters: Mapping[str, Any]


class ToolsView(Value):
    """The tools of one mode. `away` says of a server, or of one of its tools, why it is not."""

    mode: ChatMode
    tools: tuple[ToolOffer, ...]
    away: Mapping[str, str] = Field(default={})


class DirectCall(Value):
    """One call of a tool by a person; its arguments are checked against the tool's schema."""

    subject: ClassVar[str] = "tocsin-ask.rca.call"

    by: str
    mode: ChatMode = ChatMode.ASK
    tool: str = Field(pattern=_NAME, description="`server.tool`.")
    arguments: Mapping[str, Any] = Field(default={})


class DirectAnswer(Value):
    """What a call gave: data, or an error that says what to do; `message` is about either."""

    status: CallStatus
    data: Any = None
    error: str = ""
    message: str = ""


class ToolCallView(Value):
    """A direct call as it is kept: who used what with which arguments, masked, and its end."""

    at: AwareDatetime
    by: str
    mode: ChatMode
    tool: str
    arguments: Mapping[str, Any]
    status: CallStatus
    ms: int = Field(default=0, ge=0)


class ToolCallsPage(Value):
    """The newest calls first."""

    calls: tuple[ToolCallView, ...]


class AgentHome(StrEnum):
    """Where an agent runs."""

    OURS = "ours"
    EXTERNAL = "external"


class AgentsAsked(Value):
    """Which agents there are."""

    subject: ClassVar[str] = "tocsin-ask.rca.agents"

    by: str


class AgentView(Value):
    """The card of an agent; an external one's words are its own, cleaned."""

    name: str
    description: str
    home: AgentHome
    mode: ChatMode = ChatMode.ASK
    model: str = Field(default="", description="Of ours; empty where no model is needed.")
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    url: str = Field(default="", description="Of an external one: where it says that it listens.")
    away: str = Field(default="", description="Why it cannot be asked now; empty if it can.")


class AgentsView(Value):
    """All agents, ours first."""

    agents: tuple[AgentView, ...]
