"""What stands around an agent in a test: tools, a request, somebody who asks and listens."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tocsin_agents.loop.events import AgentEvent
from tocsin_agents.loop.invocation import Invocation
from tocsin_agents.loop.running import Work
from tocsin_agents.tools.port import (
    Capability,
    Identity,
    Status,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from tocsin_kit.errors import TocsinError
from tocsin_testing.values import RUN, Fields

ANA = Identity(name="ana")

Answering = Callable[[Mapping[str, Any], ToolContext], Awaitable[ToolResult]]


class FakeTool:
    """A tool that gives its data, raises its error, or does what its function does.

    With a gate it waits for it first; `running` says that it does.
    """

    def __init__(
        self,
        name: str,
        gives: object = "fine",
        *,
        capability: Capability = Capability.READ,
        gate: asyncio.Event | None = None,
        does: Answering | None = None,
    ) -> None:
        self._gives = gives
        self._does = does
        self._gate = gate
        self.running = asyncio.Event()
        self.asked: list[Mapping[str, Any]] = []
        self.spec = ToolSpec(
            name=name,
            description=f"Look at {name}.",
            parameters={"type": "object", "properties": {}},
            capability=capability,
        )

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Answer."""
        self.asked.append(arguments)
        self.running.set()
        if self._gate:
            await self._gate.wait()
        if self._does:
            return await self._does(arguments, context)
        if isinstance(self._gives, TocsinError):
            raise self._gives
        if isinstance(self._gives, ToolResult):
            return self._gives
        return ToolResult(status=Status.OK, data=self._gives)


class Ear:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[AgentEvent] = []

    async def hear(self, event: AgentEvent) -> None:
        """Keep an event."""
        self.heard.append(event)

    def of(self, kind: type[AgentEvent]) -> list[AgentEvent]:
        """Return what was heard of a kind."""
        return [event for event in self.heard if isinstance(event, kind)]


def invocation(**changes: Any) -> Invocation:
    """Return an invocation by `ana` that nobody listens to."""
    fields: Fields = {"tools": ToolContext(identity=ANA), "source": "alertmanager", "scope": RUN}
    return Invocation(**(fields | changes))


def work(request: Any = "Why does it restart?", **changes: Any) -> Work:
    """Return a work of the run that tests are about."""
    return Work(**({"run_id": RUN, "attempt": "1", "request": request} | changes))
