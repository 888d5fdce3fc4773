"""A typed async function with a docstring is a tool: nothing about it is written twice."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter

from tocsin_agents.tools import results, signatures
from tocsin_agents.tools.names import checked
from tocsin_agents.tools.port import Capability, ToolContext, ToolResult, ToolSpec
from tocsin_agents.tools.signatures import Function
from tocsin_kit.errors import PermanentError, TocsinError

_JSON: TypeAdapter[Any] = TypeAdapter(Any)


class FunctionTool:
    """A tool that is a function: what it returns is the data, a TocsinError is the error."""

    def __init__(
        self, function: Function, *, server: str, capability: Capability, name: str = ""
    ) -> None:
        called = checked(f"{server}.{name or getattr(function, '__name__', '')}")
        self._function = function
        self._signature = signatures.read(called, function)
        self._spec = ToolSpec(
            name=called,
            description=self._signature.text,
            parameters=self._signature.schema,
            capability=capability,
        )

    @property
    def spec(self) -> ToolSpec:
        """What it is and takes."""
        return self._spec

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Call the function; arguments that do not fit are an error that says what to send."""
        try:
            given = self._signature.parse(arguments)
        except PermanentError as error:
            return results.unfit(self._spec, str(error))
        given |= dict.fromkeys(self._signature.context, context)
        try:
            answer = await self._function(**given)
        except TocsinError as error:
            return results.broken(error)
        if isinstance(answer, ToolResult):
            return answer
        return results.ok(_JSON.dump_python(answer, mode="json"))


def tool(
    *, server: str, capability: Capability, name: str = ""
) -> Callable[[Function], FunctionTool]:
    """Make the decorated function the tool `server.name`; without a name, its own is taken.

    Each argument is explained in the Args section of the docstring or by Annotated[..., Field].
    A parameter of the type ToolContext is given by whoever calls the tool, never by a model.
    """
    return lambda function: FunctionTool(function, server=server, capability=capability, name=name)
