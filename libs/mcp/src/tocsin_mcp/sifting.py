"""One tool that is described wrongly must not take the others of its server away.

The library refuses a whole list of tools for one of them, so each is looked at before it.
"""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from tocsin_kit import logging
from tocsin_kit.untrusted import line

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)

USELESS: Mapping[str, Any] = {"type": "object", "$ref": "of-no-use"}
"""What stands for a schema that is none: nothing can be checked against it, so nobody offers it."""

MOST_NAMED = 5
"""Of the useless tools of one list: a server that is broken, or hostile, fills no log."""

IsTool = Callable[[Mapping[str, Any]], bool]

log = logging.get(__name__)


class Reading(Protocol[R_co]):
    """What messages of a server are read from."""

    async def receive(self) -> R_co:
        """Return the next."""

    async def aclose(self) -> None:
        """Close it."""

    async def __anext__(self) -> R_co:
        """Return the next."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        """Close it."""


class Sifted(Generic[T]):
    """Messages of a server, as they come but for what it says of tools.

    `is_tool` knows the library's own mind about one of them.
    """

    def __init__(self, inner: Reading[T], is_tool: IsTool) -> None:
        self._inner = inner
        self._is_tool = is_tool

    @property
    def last_context(self) -> Any:
        """What the library keeps of who sent the last message."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> T:
        """Return the next message."""
        return self._sifted(await self._inner.receive())

    async def aclose(self) -> None:
        """Close what is below."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        return self._sifted(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    def _sifted(self, message: T) -> T:
        result = getattr(getattr(message, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            result["tools"] = sound(result["tools"], self._is_tool)
        return message


def sound(tools: list[Any], is_tool: IsTool) -> list[Any]:
    """Return the tools; a useless one has `USELESS` for its schema, a nameless one is left out."""
    named = [one for one in tools if isinstance(one, dict) and isinstance(one.get("name"), str)]
    if len(named) < len(tools):
        log.warning("mcp.tool_without_name", left_out=len(tools) - len(named))
    found = [one if _is_useful(one, is_tool) else _useless(one["name"]) for one in named]
    wrong = [line(one["name"]) for one, given in zip(found, named, strict=True) if one is not given]
    if wrong:
        log.warning("mcp.tools_unusable", tools=wrong[:MOST_NAMED], number=len(wrong))
    return found


def _useless(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": dict(USELESS)}


def _is_useful(tool: Mapping[str, Any], is_tool: IsTool) -> bool:
    return _is_object(tool.get("inputSchema")) and is_tool(tool)


def _is_object(schema: Any) -> bool:
    """Whether it describes an object, as every version of the protocol wants it to."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return False
    properties, required = schema.get("properties"), schema.get("required")
    if properties is not None and not isinstance(properties, dict):
        return False
    if required is not None and not isinstance(required, list):
        return False
    kinds = all(isinstance(one, dict | bool) for one in (properties or {}).values())
    return kinds and all(isinstance(one, str) for one in required or ())
