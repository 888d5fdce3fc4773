"""How every wrapper is put around a toolset: around each of its tools, when they are listed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tocsin_agents.tools.port import Identity, Tool, ToolContext, ToolResult, Toolset, ToolSpec


class WrappedTool:
    """A tool around another; a subclass adds its promise to `call`."""

    def __init__(self, inner: Tool) -> None:
        self._inner = inner

    @property
    def spec(self) -> ToolSpec:
        """What the inner tool is and takes."""
        return self._inner.spec

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Use the inner tool."""
        return await self._inner.call(arguments, context)


class Wrapped:
    """A toolset with its tools wrapped; those for which `wrap` returns None are left out."""

    def __init__(self, inner: Toolset, wrap: Callable[[Tool], Tool | None]) -> None:
        self._inner = inner
        self._wrap = wrap

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return the wrapped tools, in the order of the inner toolset."""
        wrapped = (self._wrap(tool) for tool in await self._inner.tools(identity))
        return tuple(tool for tool in wrapped if tool is not None)
