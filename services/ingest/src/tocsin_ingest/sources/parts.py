"""The objects of a body of unknown shape, nearest to the alert first, and the texts in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tocsin_ingest.sources import words
from tocsin_ingest.sources.words import plain

DEEPEST = 3
MOST_PARTS = 100
"""How far into a body is looked."""


@dataclass(frozen=True, slots=True)
class Part:
    """One object of a body: where it stands, and its fields by plain names."""

    path: tuple[str, ...]
    fields: Mapping[str, Any]
    raw: Mapping[str, Any]

    @property
    def is_about_the_alert(self) -> bool:
        """Whether its states and times are those of the alert."""
        return all(name in words.ABOUT for name in self.path)

    @property
    def is_the_alert(self) -> bool:
        """Whether it is the alert itself, and not the check or the error that it tells of."""
        return all(name in words.ALERTS for name in self.path)


def parts_of(body: Mapping[str, Any]) -> list[Part]:
    """Return the objects of a body: outer ones first, at one depth those about the alert.

    Accounts, projects and their kind come last: their names are not what is wrong.
    """
    found = [_part((), body)]
    for part in found:
        if len(part.path) >= DEEPEST or len(found) >= MOST_PARTS:
            break
        inner = [
            _part((*part.path, name), one)
            for name, value in part.fields.items()
            if (one := object_of(value))
        ]
        found += sorted(inner, key=lambda one: (words.rank(one.path[-1]), one.path))
    return sorted(found[:MOST_PARTS], key=lambda one: not words.STRANGERS.isdisjoint(one.path))


def _part(path: tuple[str, ...], raw: Mapping[str, Any]) -> Part:
    return Part(path, {plain(name): raw[name] for name in sorted(raw, reverse=True)}, raw)


def object_of(value: Any) -> Mapping[str, Any]:
    """Return an object, the only one of a list, or a list of pairs as one; else nothing."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return {}
    pairs = pairs_of(value)
    return pairs or (value[0] if len(value) == 1 else {})


def pairs_of(value: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a list of `{key, value}` or `{name, value}` as one object; of others nothing."""
    pairs = {}
    for one in value:
        name, held = one.get("key", one.get("name")), one.get("value")
        if not isinstance(name, str) or "value" not in one:
            return {}
        pairs[name] = next(iter(held.values()), "") if isinstance(held, dict) else held
    return pairs


def named(parts: Sequence[Part], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every text under one of the names, with its name: nearest part first."""
    for part in parts:
        for name in names:
            value = part.fields.get(name)
            if isinstance(value, str) and value.strip() and value.strip() not in words.EMPTY:
                yield name, value.strip()


def texts_under(parts: Sequence[Part], names: Sequence[str]) -> Iterator[str]:
    """Yield every text under one of the names: nearest part first."""
    return (text for _, text in named(parts, names))
