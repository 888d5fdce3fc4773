"""What a tool is: a typed question with a capability, answered with a typed result."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from tocsin_contracts import ClusterContext, RunId
from tocsin_contracts.base import Value
from tocsin_contracts.capability import Capability

__all__ = [
    "Capability",
    "Identity",
    "Status",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "Toolset",
]


class Status(StrEnum):
    """How a call ended; a refused one was never made."""

    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"


class ToolSpec(Value):
    """A tool as the outside knows it: `server.tool`, and a JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    capability: Capability


class ToolResult(Value):
    """What a call gave: data, or an error that a model or a person can act on.

    `message` is one sentence about it. `ref` finds the full data where it was cut.
    """

    status: Status
    data: Any = None
    error: str = ""
    message: str = ""
    ref: str = ""


async def _silent(text: str) -> None:
    del text


@dataclass(frozen=True, slots=True)
class Identity:
    """On whose behalf a tool is called: a person or a service, and what they may do.

    It comes from the request that started the work, never from a model.
    """

    name: str
    groups: frozenset[str] = frozenset()
    capabilities: frozenset[Capability] = frozenset({Capability.READ})


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call knows beside its arguments. A dry run changes nothing, whatever it is told.

    `call` tells the calls of one conversation apart; it is empty outside of one.
    """

    identity: Identity
    run_id: RunId | None = None
    clusters: ClusterContext = field(default_factory=ClusterContext)
    dry_run: bool = True
    call: str = ""
    progress: Callable[[str], Awaitable[None]] = field(default=_silent)


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec:
        """What it is and takes."""

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Use it; a failure that was to be expected is a result, not an error that is raised."""


@runtime_checkable
class Toolset(Protocol):
    """Tools that come and go together, such as those of one server."""

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return what is connected now and allowed for the identity."""
