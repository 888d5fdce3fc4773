"""Ask a person before a tool does anything but read; what they approve is exactly what is done."""

from collections.abc import Mapping
from typing import Any, Protocol

from tocsin_agents.tools import results
from tocsin_agents.tools.arguments import call_hash, frozen
from tocsin_agents.tools.port import Capability, Tool, ToolContext, ToolResult, Toolset
from tocsin_agents.tools.wrappers.wrapping import Wrapped, WrappedTool
from tocsin_contracts import RunId
from tocsin_contracts.base import Value
from tocsin_kit.errors import TocsinError


class CallToApprove(Value):
    """One call that waits for a person; `hash` stands for tool, arguments and `who` together."""

    hash: str
    tool: str
    capability: Capability
    arguments: Mapping[str, Any]
    who: str
    run_id: RunId | None = None


class CallDecision(Value):
    """What a person said to the call with that hash, and to no other."""

    hash: str
    approved: bool
    by: str
    why: str = ""


class Approver(Protocol):
    """Asks people. Raises TocsinError when nobody can be asked."""

    async def decide(self, call: CallToApprove) -> CallDecision:
        """Wait for a decision; how long is the approver's to say."""


def needs_approval(inner: Toolset, approver: Approver) -> Toolset:
    """Let a tool that does more than read be used only once a person has approved the call."""

    def wrap(tool: Tool) -> Tool:
        return _Asking(tool, approver)

    return Wrapped(inner, wrap)


class _Asking(WrappedTool):
    def __init__(self, inner: Tool, approver: Approver) -> None:
        super().__init__(inner)
        self._approver = approver

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        spec = self.spec
        if spec.capability is Capability.READ:
            return await self._inner.call(arguments, context)
        kept, who = frozen(arguments), context.identity.name
        wanted = CallToApprove(
            hash=call_hash(spec.name, kept, who),
            tool=spec.name,
            capability=spec.capability,
            arguments=frozen(kept),
            who=who,
            run_id=context.run_id,
        )
        try:
            decision = await self._approver.decide(wanted)
        except TocsinError as error:
            return results.refused(f"nobody could be asked to approve {spec.name}: {error}")
        if decision.hash != wanted.hash:
            return results.refused(f"what was approved is not this call of {spec.name}; ask again")
        if not decision.approved:
            said = f": {decision.why}" if decision.why else ""
            return results.refused(f"{decision.by} did not approve {spec.name}{said}")
        return await self._inner.call(kept, context)
