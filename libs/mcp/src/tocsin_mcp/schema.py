"""What a server says of its tools, made fit to be read, and its hash."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator

from tocsin_kit.untrusted import clean

DESCRIPTION_LIMIT = 1024
ARGUMENT_LIMIT = 512
SCHEMA_LIMIT = 64 * 1024
_DEPTH = 32
_PROSE = ("description", "title", "$comment")


def digest(described: Mapping[str, Any]) -> str:
    """Return the hash of everything that a server says of a tool."""
    text = json.dumps(described, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def cleaned(value: Any, key: str = "", depth: int = 0) -> Any:
    """Return a schema whose prose is visible and short; names and types stay as they are."""
    if depth > _DEPTH:
        return {}
    if isinstance(value, str) and key in _PROSE:
        return clean(value, ARGUMENT_LIMIT).text
    if isinstance(value, Mapping):
        return {name: cleaned(inner, name, depth + 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [cleaned(inner, "", depth + 1) for inner in value]
    return value


def fault(schema: Mapping[str, Any]) -> str:
    """Return why arguments cannot be checked against the schema; empty if they can."""
    if schema.get("type") != "object":
        return "its schema does not describe an object"
    if any(not str(to).startswith("#") for to in _references(schema)):
        return "its schema refers to another document"
    text = json.dumps(schema)
    if len(text) > SCHEMA_LIMIT:
        return f"its schema is longer than {SCHEMA_LIMIT} characters"
    return _invalid(text)


@lru_cache(maxsize=2048)
def _invalid(text: str) -> str:
    """Remembered, as it takes long and is asked again whenever tools are listed or called."""
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except SchemaError as error:
        return f"its schema is not valid: {clean(error.message, 200).text}"
    return ""


def _references(value: Any) -> Iterator[Any]:
    """Yield where a schema refers to; a validator would fetch what is not in the schema itself."""
    if isinstance(value, Mapping):
        yield from (value[key] for key in ("$ref", "$dynamicRef") if key in value)
    if isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _references(inner)
