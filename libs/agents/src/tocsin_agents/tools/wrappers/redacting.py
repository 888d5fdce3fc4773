"""No secret leaves a tool, neither as its answer nor as its error nor while it works."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from tocsin_agents.tools import results
from tocsin_agents.tools.port import Tool, ToolContext, ToolResult, Toolset
from tocsin_agents.tools.wrappers.wrapping import Wrapped, WrappedTool
from tocsin_kit.errors import TocsinError
from tocsin_kit.redaction import Redactor

_JSON: TypeAdapter[Any] = TypeAdapter(Any)


def redacted(inner: Toolset, redactor: Redactor) -> Toolset:
    """Mask what the redactor knows as a secret in data, errors, messages and progress."""
    return Wrapped(inner, lambda tool: _Masked(tool, redactor))


def masked(data: Any, redactor: Redactor) -> Any:
    """Return plain JSON data with every secret masked, in the names of fields too."""
    return redactor.value(_named(_JSON.dump_python(data, mode="json"), redactor))


def _named(data: Any, redactor: Redactor) -> Any:
    if isinstance(data, dict):
        return {redactor.text(str(key)): _named(inner, redactor) for key, inner in data.items()}
    return [_named(inner, redactor) for inner in data] if isinstance(data, list) else data


class _Masked(WrappedTool):
    def __init__(self, inner: Tool, redactor: Redactor) -> None:
        super().__init__(inner)
        self._redactor = redactor

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        async def progress(text: str) -> None:
            await context.progress(self._redactor.text(text))

        try:
            result = await self._inner.call(arguments, replace(context, progress=progress))
        except TocsinError as error:
            result = results.broken(error)
        return result.model_copy(
            update={
                "data": masked(result.data, self._redactor),
                "error": self._redactor.text(result.error),
                "message": self._redactor.text(result.message),
            }
        )
