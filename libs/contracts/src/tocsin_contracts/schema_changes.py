"""Which changes of an event's schema break those who read it: the rule of change, as a function."""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

BOUNDS = (
    "pattern",
    "const",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """Return a sentence for each change from old to new that needs a new version of the event.

    A new optional field and a new word in a list of words break nobody; a field that is gone, has
    become required, or means another type does.
    """
    return sorted(_changes("event", _Side(old, old), _Side(new, new)))


class _Side:
    """One schema with the document it stands in, which its references point into."""

    def __init__(self, root: Schema, schema: Schema) -> None:
        self._root = root
        name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
        self._schema: Schema = root["$defs"][name] if name else schema

    def at(self, schema: Schema) -> "_Side":
        return _Side(self._root, schema)

    def get(self, key: str) -> Any:
        return self._schema.get(key)

    @property
    def properties(self) -> dict[str, "_Side"]:
        return {name: self.at(inner) for name, inner in (self.get("properties") or {}).items()}

    @property
    def types(self) -> list[str]:
        return sorted(str(one.get("type")) for one in [self, *self.choices])

    @property
    def choices(self) -> list["_Side"]:
        return [self.at(one) for one in self.get("anyOf") or ()]

    @property
    def parts(self) -> dict[str, "_Side"]:
        """What stands inside: the type of the items, of the values, and each choice."""
        nested = {"items": self.get("items"), "values": self.get("additionalProperties")}
        inner = {name: self.at(part) for name, part in nested.items() if isinstance(part, Mapping)}
        return inner | {f"choice {n}": choice for n, choice in enumerate(self.choices)}


def _changes(where: str, old: _Side, new: _Side) -> Iterator[str]:
    if old.types != new.types:
        yield f"{where} changed its type from {old.types} to {new.types}"
        return
    yield from _narrowed(where, old, new)
    for name in old.properties.keys() - new.properties.keys():
        yield f"{where}.{name} is gone"
    for name in set(new.get("required") or ()) - set(old.get("required") or ()):
        yield f"{where}.{name} has become required"
    for name, before in old.properties.items():
        if name in new.properties:
            yield from _changes(f"{where}.{name}", before, new.properties[name])
    for name in old.parts.keys() & new.parts.keys():
        yield from _changes(f"{where} {name}", old.parts[name], new.parts[name])


def _narrowed(where: str, old: _Side, new: _Side) -> Iterator[str]:
    for word in old.get("enum") or ():
        if word not in (new.get("enum") or ()):
            yield f"{where} lost the word {word!r}"
    for bound in BOUNDS:
        if old.get(bound) != new.get(bound):
            yield f"{where} changed its {bound} from {old.get(bound)!r} to {new.get(bound)!r}"
