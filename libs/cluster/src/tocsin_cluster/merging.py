"""One object of several tellings of it: the fuller one wins, and the others fill its gaps."""

from collections.abc import Iterable, Mapping
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef

_AT_ONCE = frozenset({"state", "lastState", "valueFrom"})
"""Fields of which the parts are true together or not at all."""


def merged(tellings: Iterable[Manifest]) -> dict[ObjectRef, Manifest]:
    """Return every object once; of two tellings the whole one, else the later one, wins."""
    found: dict[ObjectRef, Manifest] = {}
    for told in tellings:
        known = found.get(told.ref)
        found[told.ref] = told if known is None else _both(known, told)
    return found


def _both(earlier: Manifest, later: Manifest) -> Manifest:
    if earlier.whole == later.whole and later.whole:
        first, second = later, earlier
    else:
        first, second = (earlier, later) if earlier.whole else (later, earlier)
    return Manifest(filled(first.raw, second.raw), whole=first.whole)


def filled(own: Any, other: Any) -> Any:
    """Return a tree with what it lacks taken from another one; what it says itself stays."""
    if isinstance(own, Mapping) and isinstance(other, Mapping):
        shared = own.keys() & other.keys() - _AT_ONCE
        both = {key: filled(own[key], other[key]) for key in shared}
        return {**other, **own, **both}
    if isinstance(own, list) and isinstance(other, list) and own:
        return _items(own, other)
    return own if own not in (None, "", [], {}) else other


def _items(own: list[Any], other: list[Any]) -> list[Any]:
    """Items are the same by their names; those that only the other has are not taken over."""
    named = {_name(item): item for item in other if _name(item)}
    return [filled(item, named[_name(item)]) if _name(item) in named else item for item in own]


def _name(item: Any) -> str:
    return str(item.get("name") or item.get("type") or "") if isinstance(item, Mapping) else ""
