"""Arguments against the JSON schema of their tool, in sentences that say what to send instead."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for

from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line

MOST_MISTAKES = 5

MOST_REFERENCES = 5000
"""That one check follows: without references its length is that of the schema and the arguments."""

_extend: Callable[..., Any] = extend
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def mistakes(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with the arguments, the first few; nothing when they fit.

    Raises PermanentError for a schema that nothing can be checked against. No address that a
    schema names is ever asked for.
    """
    checker = _checker(json.dumps(schema, sort_keys=True))
    try:
        found = sorted(checker.errors(arguments), key=lambda error: error.json_path)
    except RecursionError as error:
        raise PermanentError("the schema of its arguments refers to itself without end") from error
    return tuple(_sentence(error) for error in found[:MOST_MISTAKES])


def usage(schema: Mapping[str, Any]) -> str:
    """Return the arguments that a schema takes on one line."""
    required = schema.get("required", ())
    taken = (
        f"{name} ({_type(told)}{', required' if name in required else ''})"
        for name, told in schema.get("properties", {}).items()
    )
    return line(", ".join(taken), 1000) or "no arguments"


class _Checker:
    """Checks against one schema, and follows so many of its references and no more."""

    def __init__(self, kind: type[Validator], schema: Any) -> None:
        self._left = 0
        counted = {
            key: self._counted(kind.VALIDATORS[key])
            for key in _REFERENCES
            if key in kind.VALIDATORS
        }
        self._validator = _extend(kind, counted)(schema)

    def errors(self, arguments: Mapping[str, Any]) -> Iterator[ValidationError]:
        """Yield what is wrong; RecursionError where it is too much to look at."""
        self._left = MOST_REFERENCES
        yield from self._validator.iter_errors(dict(arguments))

    def _counted(self, follow: Callable[..., Any]) -> Callable[..., Any]:
        def check(*given: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise RecursionError
            return follow(*given)

        return check


@lru_cache(maxsize=512)
def _checker(text: str) -> _Checker:
    schema = json.loads(text)
    unusable = f"the schema of its arguments is of no use: {text[:200]}"
    if not isinstance(schema, dict) or not all(_leads(schema, ref) for ref in _refs(schema)):
        raise PermanentError(unusable)
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise PermanentError(f"{unusable}: {line(error.message)}") from error
    return _Checker(kind, _bounded(schema))


def _bounded(schema: Any) -> Any:
    """Leave expressions to the tool: one that others wrote could take as long as it likes.

    A part of a schema may not choose another validator for itself either.
    """
    if isinstance(schema, list):
        return [_bounded(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = {key for key in ("pattern", "$schema") if isinstance(schema.get(key), str)}
    if "patternProperties" in schema:
        left_out |= {"patternProperties", "additionalProperties", "unevaluatedProperties"}
    return {k: _bounded(v) for k, v in schema.items() if k not in left_out}


def _refs(schema: Any) -> Iterator[Any]:
    """Yield every reference, also one that only data mentions: better too strict than tricked."""
    if isinstance(schema, dict):
        yield from (schema[key] for key in ("$ref", "$dynamicRef") if key in schema)
        yield from (ref for inner in schema.values() for ref in _refs(inner))
    elif isinstance(schema, list):
        yield from (ref for inner in schema for ref in _refs(inner))


def _leads(schema: Any, ref: Any) -> bool:
    """Whether a reference leads from the root of its own schema to something by plain keys."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return False
    for step in ref[1:].split("/")[1:]:
        if not isinstance(schema, dict) or step not in schema:
            return False
        schema = schema[step]
    return ref == "#" or ref.startswith("#/")


def _sentence(error: ValidationError) -> str:
    where = ".".join(str(step) for step in error.absolute_path)
    if error.validator in ("required", "additionalProperties"):
        return line(f"{where}: {error.message}" if where else error.message)
    wanted = json.dumps(error.validator_value, default=str)
    return line(f"{where or 'the arguments'}: {error.validator} must be {wanted}", 300)


def _type(told: Any) -> str:
    if not isinstance(told, Mapping):
        return "any"
    if "enum" in told:
        return "one of " + " ".join(str(value) for value in told["enum"])
    if "anyOf" in told:
        return " or ".join(_type(inner) for inner in told["anyOf"])
    return str(told.get("type", "any"))
