"""What a function takes, read from its types and its docstring: the arguments of a tool."""

import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from tocsin_agents.tools import docstrings
from tocsin_agents.tools.arguments import canonical
from tocsin_agents.tools.port import ToolContext
from tocsin_kit.errors import PermanentError

Function = Callable[..., Awaitable[Any]]
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function does and takes; `context` are the parameters that no model ever gives."""

    text: str
    model: type[BaseModel]
    names: tuple[str, ...]
    context: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.model.model_json_schema(schema_generator=_NoTitles)
        return {key: value for key, value in schema.items() if key != "title"}

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the function takes them; PermanentError says what is wrong.

        Nothing is converted: a number in quotes is a text.
        """
        try:
            parsed = self.model.model_validate_json(canonical(dict(arguments)), strict=True)
        except ValidationError as error:
            raise PermanentError(_mistakes(error)) from error
        return {name: getattr(parsed, _field(name)) for name in self.names}


def read(called: str, function: Function) -> Signature:
    """Read a function; PermanentError names the tool and what it leaves unsaid."""
    hints = _hints(called, function)
    context = tuple(name for name, hint in hints.items() if hint is ToolContext)
    taken = {name: hint for name, hint in hints.items() if name not in context}
    doc = docstrings.read(function.__doc__ or "")
    if not doc.text:
        raise PermanentError(f"tool {called!r} has no docstring: say what it does")
    unknown = sorted(set(doc.arguments) - set(taken))
    if unknown:
        raise PermanentError(f"tool {called!r} explains {', '.join(unknown)}, which it has not")
    model = _model(function, taken, doc.arguments)
    mute = [name for name in taken if not model.model_fields[_field(name)].description]
    if mute:
        raise PermanentError(f"tool {called!r} does not explain {', '.join(mute)}: add it to Args")
    return Signature(doc.text, model, tuple(taken), context)


def _hints(called: str, function: Function) -> dict[str, Any]:
    if not inspect.iscoroutinefunction(function):
        raise PermanentError(f"tool {called!r} is no async function")
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    bare = [p.name for p in parameters if p.kind not in _BY_NAME or p.name not in hints]
    if bare:
        raise PermanentError(f"tool {called!r}: give {', '.join(bare)} a name and a type each")
    return {parameter.name: hints[parameter.name] for parameter in parameters}


def _model(
    function: Function, hints: Mapping[str, Any], told: Mapping[str, str]
) -> type[BaseModel]:
    parameters = inspect.signature(function).parameters
    fields: dict[str, Any] = {
        _field(name): (hint, _info(name, parameters[name].default, told.get(name)))
        for name, hint in hints.items()
    }
    return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _info(name: str, default: Any, told: str | None) -> FieldInfo:
    given: dict[str, Any] = {"alias": name}
    if default is not inspect.Parameter.empty:
        given["default"] = default
    if told:
        given["description"] = told
    info: FieldInfo = Field(**given)
    return info


def _field(name: str) -> str:
    """Whatever an argument is called, its field hides nothing that pydantic has."""
    return f"argument_{name}"


def _mistakes(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(step) for step in one['loc']) or 'the arguments'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)
    )


class _NoTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False
