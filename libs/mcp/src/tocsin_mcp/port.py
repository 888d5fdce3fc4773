"""What is asked of an MCP server once it is connected; one adapter speaks the protocol."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from tocsin_contracts.base import Value
from tocsin_mcp.config import Server


class ListedTool(Value):
    """A tool as its server describes it: every word of it is the server's own claim."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}
    read_only_hint: bool = False
    destructive_hint: bool = False
    digest: str


class CallAnswer(Value):
    """What a tool answered: text, an object where there is one, and whether something was cut."""

    text: str
    structured: Mapping[str, Any] | None = None
    is_error: bool = False
    truncated: bool = False


OnProgress = Callable[[str], Awaitable[None]]
"""Is told what a server says of a call that still runs."""


class Peer(Protocol):
    """A connected server. Each question may raise LostError or RefusedError."""

    async def tools(self) -> tuple[ListedTool, ...]:
        """Return all tools, whatever number of pages they come on."""

    async def call(
        self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> CallAnswer:
        """Use a tool; to cancel this tells the server to stop."""


Connect = Callable[[Server], AbstractAsyncContextManager[Peer]]
"""Makes a connection, entered and left in one task; raises LostError."""
