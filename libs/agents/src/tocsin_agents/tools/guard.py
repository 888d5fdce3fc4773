"""The one door to a tool: who may use it, in which mode, with which arguments, for real or not."""

from collections.abc import Mapping
from typing import Any

from tocsin_agents.tools import results
from tocsin_agents.tools.modes import Mode, allows
from tocsin_agents.tools.port import (
    Capability,
    Identity,
    Tool,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from tocsin_agents.tools.schemas import mistakes
from tocsin_kit.errors import TocsinError


class Guarded:
    """A tool as it was listed for one identity in one mode; nobody else can use it so."""

    def __init__(self, inner: Tool, mode: Mode, identity: Identity) -> None:
        self._inner = inner
        self._mode = mode
        self._identity = identity

    @property
    def spec(self) -> ToolSpec:
        """What it is and takes."""
        return self._inner.spec

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Use the tool, or say why it was not used; what was to be expected is never raised."""
        why_not = self._why_not(context)
        if why_not:
            return results.refused(why_not)
        try:
            wrong = mistakes(self.spec.parameters, arguments)
            if wrong:
                return results.unfit(self.spec, "; ".join(wrong))
            return await self._inner.call(arguments, context)
        except TocsinError as error:
            return results.broken(error)

    def _why_not(self, context: ToolContext) -> str:
        name, capability = self.spec.name, self.spec.capability
        if context.identity != self._identity:
            return f"{name} was listed for somebody else; list the tools again"
        if not allows(self._mode, context.identity, capability):
            return f"{context.identity.name} may not {capability} with {name} in {self._mode} mode"
        if context.dry_run and capability is not Capability.READ:
            return f"this is a dry run: {name} would {capability}, so nothing was done"
        return ""
