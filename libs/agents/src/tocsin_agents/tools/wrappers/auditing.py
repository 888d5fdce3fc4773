"""Who used which tool with what, and how it ended; what cannot be written down is not done."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tocsin_agents.tools import results
from tocsin_agents.tools.arguments import call_hash
from tocsin_agents.tools.port import (
    Capability,
    Status,
    Tool,
    ToolContext,
    ToolResult,
    Toolset,
)
from tocsin_agents.tools.wrappers.redacting import masked
from tocsin_agents.tools.wrappers.wrapping import Wrapped, WrappedTool
from tocsin_contracts import RunId
from tocsin_contracts.base import Value
from tocsin_kit import logging
from tocsin_kit.errors import TocsinError
from tocsin_kit.redaction import Redactor

log = logging.get(__name__)


class AuditEntry(Value):
    """One call; `status` is None for one that is about to be made, `ms` is how long it took."""

    who: str
    tool: str
    capability: Capability
    hash: str
    arguments: Mapping[str, Any]
    run_id: RunId | None = None
    status: Status | None = None
    ms: int = 0


class Audit(Protocol):
    """Keeps entries. Raises TocsinError when it cannot."""

    async def record(self, entry: AuditEntry) -> None:
        """Keep one; it is safe once this returns."""


def audited(
    inner: Toolset, audit: Audit, redactor: Redactor, clock: Callable[[], float]
) -> Toolset:
    """Record every call, its arguments masked; `clock` is monotonic and counts seconds.

    What does more than read is recorded before it is done as well, and refused if that fails.
    """
    return Wrapped(inner, lambda tool: _Recorded(tool, audit, redactor, clock))


class _Recorded(WrappedTool):
    def __init__(
        self, inner: Tool, audit: Audit, redactor: Redactor, clock: Callable[[], float]
    ) -> None:
        super().__init__(inner)
        self._audit = audit
        self._redactor = redactor
        self._clock = clock

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        entry = self._entry(arguments, context)
        if entry.capability is not Capability.READ:
            try:
                await self._audit.record(entry)
            except TocsinError as error:
                return results.refused(f"{entry.tool} cannot be recorded: {error}; try again later")
        started = self._clock()
        try:
            result = await self._inner.call(arguments, context)
        except TocsinError:
            await self._ended(entry, Status.ERROR, started)
            raise
        await self._ended(entry, result.status, started)
        return result

    def _entry(self, arguments: Mapping[str, Any], context: ToolContext) -> AuditEntry:
        spec, who = self.spec, context.identity.name
        return AuditEntry(
            who=who,
            tool=spec.name,
            capability=spec.capability,
            hash=call_hash(spec.name, arguments, who),
            arguments=masked(dict(arguments), self._redactor),
            run_id=context.run_id,
        )

    async def _ended(self, entry: AuditEntry, status: Status, started: float) -> None:
        """Record the end; what is done is done, and a read whose record fails harms nobody."""
        ms = round((self._clock() - started) * 1000)
        try:
            await self._audit.record(entry.model_copy(update={"status": status, "ms": ms}))
        except TocsinError as error:
            log.warning("tools.audit_failed", tool=entry.tool, who=entry.who, error=str(error))
