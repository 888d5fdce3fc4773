"""The objects of a body of unknown shape, nearest to the alert first, and the texts in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tocsin_ingest.sources.fields import EMPTY, plain
from tocsin_ingest.sources.guessing import words
from tocsin_ingest.sources.reading import texts

DEEPEST = 3
MOST_PARTS = 50
MOST_FIELDS = 1000
"""How far into a body, and at how many fields of one object, is looked."""

LONGEST_IDENTITY = 256
"""Characters of a value that may tell alerts apart; what is longer is a text."""


@dataclass(frozen=True)
class Part:
    """One object of a body: where it stands, and its fields by plain names."""

    path: tuple[str, ...]
    fields: Mapping[str, Any]
    raw: Mapping[str, Any]

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The plain values as texts, by the names that they were sent under."""
        return texts(dict(self.raw))

    @cached_property
    def plain_texts(self) -> Mapping[str, str]:
        """The plain values as texts, by plain names."""
        return {plain(name): self.texts[name] for name in sorted(self.texts, reverse=True)}

    @cached_property
    def identity(self) -> Mapping[str, str]:
        """The fields that tell alerts apart; those of a thing stand under its name."""
        thing = self.path[-1] if self.path else ""
        if thing and thing not in words.THINGS:
            return {}
        prefix = f"{thing}." if thing and thing not in words.HOLDERS else ""
        return {
            f"{prefix}{name}": text
            for name, text in self.texts.items()
            if words.is_identity(thing, plain(name))
            and len(text) <= LONGEST_IDENTITY
            and text not in EMPTY
        }

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
            ((*part.path, name), one)
            for name, value in part.fields.items()
            if (one := object_of(value))
        ]
        inner.sort(key=lambda one: (words.rank(one[0][-1]), one[0]))
        found += [_part(path, one) for path, one in inner[:MOST_PARTS]]
    return sorted(found[:MOST_PARTS], key=lambda one: not words.STRANGERS.isdisjoint(one.path))


def _part(path: tuple[str, ...], sent: Mapping[str, Any]) -> Part:
    names = sorted(sent)[:MOST_FIELDS]
    fields = {plain(name): sent[name] for name in reversed(names)}
    return Part(path, fields, {name: sent[name] for name in names})


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


def named_texts(parts: Sequence[Part], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every text under one of the names, with its name: nearest part first."""
    for part in parts:
        for name in names:
            value = part.fields.get(name)
            if isinstance(value, str) and value.strip() and value.strip() not in EMPTY:
                yield name, value.strip()


def texts_under(parts: Sequence[Part], names: Sequence[str]) -> Iterator[str]:
    """Yield every text under one of the names: nearest part first."""
    return (text for _, text in named_texts(parts, names))
