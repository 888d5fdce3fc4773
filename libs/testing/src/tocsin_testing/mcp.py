"""An MCP server that a test breaks as it likes: no process, no protocol, the same port."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tocsin_contracts.capability import Capability
from tocsin_kit.errors import TocsinError
from tocsin_mcp.config import Server
from tocsin_mcp.entries import Entry, Transport
from tocsin_mcp.port import CallAnswer, ListedTool, OnProgress

OBJECT: Mapping[str, Any] = {"type": "object", "properties": {}}


def listed(name: str, **changes: Any) -> ListedTool:
    """Return a tool that only reads, by its own account; `changes` are fields of it."""
    said = {"description": f"Does {name}.", "parameters": OBJECT, "read_only_hint": True}
    return ListedTool.model_validate({"name": name, "digest": f"of {name}", **said, **changes})


def server(name: str = "shop", **changes: Any) -> Server:
    """Return a server all of whose tools are allowed, and read by its operator's account."""
    entry: dict[str, Any] = {"transport": Transport.STDIO, "command": "shop", "allow": ["*"]}
    entry |= {"capabilities": {"*": Capability.READ}}
    return Server(name, Entry.model_validate(entry | changes))


class FakeServer:
    """What is put into `faults` is raised by the next calls, into `refusals` by the next connects.

    Until it is `awake`, nothing is answered.
    """

    def __init__(self, *tools: ListedTool) -> None:
        self.listed = tools
        self.refusals: deque[TocsinError] = deque()
        self.faults: deque[TocsinError] = deque()
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.connects = 0
        self.open = 0
        self.busiest = 0
        self.cancelled = 0
        self.awake = asyncio.Event()
        self.awake.set()
        self._busy = 0

    @asynccontextmanager
    async def connect(self, server: Server) -> AsyncIterator["FakeServer"]:
        """Connect, as tocsin_mcp.port.Connect."""
        del server
        self.connects += 1
        if self.refusals:
            raise self.refusals.popleft()
        self.open += 1
        try:
            yield self
        finally:
            self.open -= 1

    async def tools(self) -> tuple[ListedTool, ...]:
        """Return what it has."""
        await self._answering()
        return self.listed

    async def call(
        self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> CallAnswer:
        """Say which tool was called."""
        self.calls.append((tool, arguments))
        if on_progress is not None:
            await on_progress("half")
        if self.faults:
            raise self.faults.popleft()
        self._busy += 1
        self.busiest = max(self.busiest, self._busy)
        try:
            await self._answering()
        finally:
            self._busy -= 1
        return CallAnswer(text=f"{tool} done")

    async def _answering(self) -> None:
        try:
            await asyncio.sleep(0)
            await self.awake.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
