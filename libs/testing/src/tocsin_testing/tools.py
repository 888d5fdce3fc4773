"""Tools that do nothing but remember how they were used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tocsin_agents.tools.port import (
    Capability,
    Identity,
    Status,
    Tool,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from tocsin_kit.errors import TocsinError

ANYTHING: Mapping[str, Any] = {"type": "object"}
DONE = ToolResult(status=Status.OK, data="done")


@dataclass
class RecordingTool:
    """A tool with one answer; an error is raised."""

    name: str
    capability: Capability = Capability.READ
    answer: ToolResult | TocsinError = DONE
    parameters: Mapping[str, Any] = field(default_factory=lambda: ANYTHING)
    calls: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def spec(self) -> ToolSpec:
        """What it says it is."""
        return ToolSpec(
            name=self.name,
            description=f"What {self.name} does.",
            parameters=self.parameters,
            capability=self.capability,
        )

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Remember the call."""
        await context.progress(f"{self.name} works")
        self.calls.append(arguments)
        if isinstance(self.answer, TocsinError):
            raise self.answer
        return self.answer


class FixedToolset:
    """Tools as they are given; an error is raised by every listing while it is set."""

    def __init__(self, *tools: Tool, error: TocsinError | None = None) -> None:
        self.given = tools
        self.error = error
        self.listings = 0

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return them to anybody."""
        del identity
        self.listings += 1
        if self.error:
            raise self.error
        return self.given
