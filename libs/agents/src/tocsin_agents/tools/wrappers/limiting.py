"""How often a tool may be used, and how long it may take."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tocsin_agents.tools import results
from tocsin_agents.tools.port import Tool, ToolContext, ToolResult, Toolset
from tocsin_agents.tools.wrappers.wrapping import Wrapped, WrappedTool


class CallCount:
    """The calls of one run; it is made anew for each."""

    def __init__(self, *, of_each: int, in_all: int) -> None:
        self._of_each = of_each
        self._in_all = in_all
        self._made: Counter[str] = Counter()

    def take(self, name: str) -> str:
        """Count one call, or return why it may not be made."""
        if self._made[name] >= self._of_each:
            return f"the {self._of_each} calls of {name} are made; go on with what they said"
        if self._made.total() >= self._in_all:
            return f"the {self._in_all} calls of tools are made; go on with what they said"
        self._made[name] += 1
        return ""


def budgeted(inner: Toolset, count: CallCount) -> Toolset:
    """Refuse what is called more often than the count allows."""
    return Wrapped(inner, lambda tool: _Counted(tool, count))


def timed(inner: Toolset, seconds: float, by_name: Mapping[str, float] | None = None) -> Toolset:
    """End a call that takes too long; `by_name` has the seconds of tools with their own limit."""
    own = dict(by_name or {})
    return Wrapped(inner, lambda tool: _Timed(tool, own.get(tool.spec.name, seconds)))


class _Counted(WrappedTool):
    def __init__(self, inner: Tool, count: CallCount) -> None:
        super().__init__(inner)
        self._count = count

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        spent = self._count.take(self.spec.name)
        return results.refused(spent) if spent else await self._inner.call(arguments, context)


class _Timed(WrappedTool):
    def __init__(self, inner: Tool, seconds: float) -> None:
        super().__init__(inner)
        self._seconds = seconds

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await self._inner.call(arguments, context)
        except TimeoutError:
            if not limit.expired():
                raise
            late = f"{self.spec.name} gave no answer within {self._seconds:g} seconds"
            return results.failed(f"{late}; ask for less, or go on without it")
