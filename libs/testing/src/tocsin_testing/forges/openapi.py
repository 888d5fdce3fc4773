"""A published API description for a fake: which operation is it, what must an answer hold."""

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

Json = dict[str, Any]
_LITERAL = {"string": "x", "integer": 1, "number": 1, "boolean": False, "array": []}
_FORMATS = {"uri": "https://forge.example/x", "date-time": "2026-01-05T10:00:00Z"}
_SLASHED = ("path", "ref", "basehead")
"""Parameters that hold slashes."""


@dataclass(frozen=True)
class Description:
    """One document of OpenAPI 3.0."""

    document: Json
    _made: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> "Description":
        """Read one that lies beside this module."""
        return cls(json.loads(files("tocsin_testing.forges").joinpath(name).read_bytes()))

    def operation(self, method: str, path: str) -> Json | None:
        """Return the operation that a request is, or None if none is described."""
        for template, operations in self.document["paths"].items():
            if method.lower() in operations and re.fullmatch(_pattern(template), path):
                found: Json = operations[method.lower()]
                return found
        return None

    def resolved(self, part: Json) -> Json:
        """Return what a part stands for, if it only refers to another."""
        while "$ref" in part:
            _, _, kind, name = part["$ref"].split("/")
            part = self.document["components"][kind][name]
        return part

    def example(self, schema: str, **known: Any) -> Json:
        """Return the least that an object of a schema may hold, with what is known of it."""
        if schema not in self._made:
            least = self._least(self.document["components"]["schemas"][schema])
            self._made[schema] = json.dumps(least)
        return merged(json.loads(self._made[schema]), known)

    def _least(self, schema: Json) -> Any:
        schema = self.resolved(schema)
        several = next((key for key in ("allOf", "oneOf", "anyOf") if key in schema), None)
        if schema.get("nullable"):
            return None
        if several:
            return self._least(schema[several][0])
        if "enum" in schema:
            return schema["enum"][0]
        if "properties" in schema or schema.get("type") == "object":
            properties = schema.get("properties", {})
            return {name: self._least(properties[name]) for name in schema.get("required", ())}
        kind = schema.get("type", "string")
        return copy.copy(_FORMATS.get(schema.get("format", ""), _LITERAL[kind]))


def merged(least: Json, known: Mapping[str, Any]) -> Json:
    """Return an object with what is known put in, however deep."""
    for name, value in known.items():
        inner = least.get(name)
        least[name] = merged(inner, value) if isinstance(inner, dict) and value else value
    return least


def _pattern(template: str) -> str:
    parts = re.split(r"\{(\w+)\}", template)
    names = (".+" if name in _SLASHED else "[^/]+" for name in parts[1::2])
    return "".join(
        re.escape(text) + name for text, name in zip(parts[::2], [*names, ""], strict=True)
    )
