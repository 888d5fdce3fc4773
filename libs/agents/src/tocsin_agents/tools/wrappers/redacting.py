"""No secret leaves a tool, neither as its answer nor as its error nor while it works."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from tocsin_agents.tools import results
from tocsin_agents.tools.port import Tool, ToolContext, ToolResult, Toolset
from tocsin_agents.tools.wrappers.wrapping import Wrapped, WrappedTool
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_kit.redaction import Redactor

_JSON: TypeAdapter[Any] = TypeAdapter(Any)


def redacted(inner: Toolset, redactor: Redactor) -> Toolset:
    """Mask what the redactor knows as a secret in data, errors, messages and progress."""
    return Wrapped(inner, lambda tool: _Masked(tool, redactor))


def masked(data: Any, redactor: Redactor) -> Any:
    """Return plain JSON data with every secret masked, in the names of fields too.

    PermanentError for what JSON cannot say: half a character, or lists in lists without an end.
    """
    try:
        plain = _JSON.validate_json(_JSON.dump_json(data))
    except ValueError as error:
        raise PermanentError(f"the data is not JSON: {error}; ask for something else") from None
    return redactor.value(_named(plain, redactor))


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
            data = masked(result.data, self._redactor)
        except TocsinError as error:
            result, data = results.broken(error), None
        return result.model_copy(
            update={
                "data": data,
                "error": self._redactor.text(result.error),
                "message": self._redactor.text(result.message),
            }
        )
