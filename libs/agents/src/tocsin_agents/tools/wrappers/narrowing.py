"""Fewer tools than a server offers, and other names for them."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from tocsin_agents.tools import results
from tocsin_agents.tools.names import checked
from tocsin_agents.tools.port import (
    Capability,
    Tool,
    ToolContext,
    ToolResult,
    Toolset,
    ToolSpec,
)
from tocsin_agents.tools.wrappers.wrapping import Wrapped, WrappedTool


def only_reads(inner: Toolset) -> Toolset:
    """Leave only tools that read; one that stops to be one after it was listed is refused."""
    return Wrapped(inner, lambda tool: _Reading(tool) if _reads(tool) else None)


def filtered(inner: Toolset, *, allow: Sequence[str] = ("*",), deny: Sequence[str] = ()) -> Toolset:
    """Leave the tools whose name fits a pattern of `allow`, such as `k8s.*`, and none of `deny`."""
    allowed, denied = tuple(allow), tuple(deny)

    def kept(tool: Tool) -> Tool | None:
        name = tool.spec.name
        return tool if _fits(name, allowed) and not _fits(name, denied) else None

    return Wrapped(inner, kept)


def prefixed(inner: Toolset, prefix: str) -> Toolset:
    """Put a prefix before the name of every server: `west-` makes `k8s.get` `west-k8s.get`."""
    checked(f"{prefix}server.tool")
    return Wrapped(inner, lambda tool: _Renamed(tool, f"{prefix}{tool.spec.name}"))


def _reads(tool: Tool) -> bool:
    return tool.spec.capability is Capability.READ


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class _Reading(WrappedTool):
    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        if not _reads(self._inner):
            return results.refused(f"{self.spec.name} does not only read")
        return await self._inner.call(arguments, context)


class _Renamed(WrappedTool):
    def __init__(self, inner: Tool, name: str) -> None:
        super().__init__(inner)
        self._name = name

    @property
    def spec(self) -> ToolSpec:
        return self._inner.spec.model_copy(update={"name": self._name})
