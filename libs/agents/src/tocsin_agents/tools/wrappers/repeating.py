"""What changes something is done once: whoever takes a work over does not do it a second time."""

from collections.abc import Mapping
from typing import Any, Protocol

from tocsin_agents.tools import results
from tocsin_agents.tools.arguments import call_hash
from tocsin_agents.tools.port import Capability, Tool, ToolContext, ToolResult, Toolset
from tocsin_agents.tools.wrappers.wrapping import Wrapped, WrappedTool


class Begun(Protocol):
    """Remembers what was begun, for all workers. Raises TransientError while it cannot."""

    async def begin(self, key: str) -> bool:
        """Remember a key; return whether nobody had begun it before."""


def once(inner: Toolset, begun: Begun) -> Toolset:
    """Use a tool that does more than read only once for each call of a run.

    A worker that died may have done it or not: then nobody does it again, and the answer says that
    its outcome is unknown. Put it inside `needs_approval`, or a call that waits counts as begun.
    """
    return Wrapped(inner, lambda tool: _Once(tool, begun))


class _Once(WrappedTool):
    def __init__(self, inner: Tool, begun: Begun) -> None:
        super().__init__(inner)
        self._begun = begun

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        spec = self.spec
        if spec.capability is not Capability.READ and context.run_id and context.call:
            conversation = f"{context.run_id} {context.attempt}"
            who = f"{conversation} {context.call} {context.identity.name}"
            if not await self._begun.begin(call_hash(spec.name, arguments, who)):
                return results.failed(
                    f"outcome unknown: this call of {spec.name} was begun before, and whoever did "
                    "was not heard of again",
                    "It may have been done: look, before you ask for it again.",
                )
        return await self._inner.call(arguments, context)
