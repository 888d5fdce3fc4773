"""Read the values of charts as Helm does: aliases and merge keys followed, nothing kept of them."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from tocsin_gitops.helm.marked import Hidden, refuse_marks
from tocsin_gitops.helm.syntax import Unreadable
from tocsin_gitops.splice import decode

_MOST = 20_000
_UNCLEAR = ("y", "Y", "n", "N")
"""Words that Helm takes for yes and no, and others do not."""


def mapping(data: bytes) -> dict[str, Any]:
    """Return a file of values; Unreadable if it holds anything else than one mapping of them."""
    text = decode(data)[1]
    refuse_marks(text)
    try:
        if any(map(_is_unclear, yaml.parse(text, Loader=yaml.CSafeLoader))):
            raise Unreadable("it holds a plain y or n, which YAML readers disagree about")
        found = yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise Unreadable(f"it is not plain YAML: {str(error)[:200]}") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unreadable("it holds no mapping of values")
    made: dict[str, Any] = checked(found)
    return made


def _is_unclear(event: yaml.Event) -> bool:
    return isinstance(event, yaml.ScalarEvent) and not event.style and event.value in _UNCLEAR


def checked(value: Any) -> Any:
    """Return a copy of a value that holds nothing but what templates know."""
    return _checked(value, [_MOST])


def _checked(value: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise Unreadable("it holds too many values")
    if isinstance(value, dict):
        return {str(key): _checked(one, left) for key, one in value.items()}
    if isinstance(value, list):
        return [_checked(one, left) for one in value]
    if isinstance(value, str):
        refuse_marks(value)
    if value is None or isinstance(value, str | int | float | bool | Hidden):
        return value
    raise Unreadable(f"{value!r} is a value that readers of YAML disagree about")


def merged(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the values of all layers: a later one wins, and its null takes a value away."""
    made: dict[str, Any] = {}
    for layer in layers:
        _merge(made, layer)
    return made


def _merge(into: dict[str, Any], layer: Mapping[str, Any]) -> None:
    for key, value in layer.items():
        held = into.get(key)
        if value is None and key in into:
            del into[key]
        elif isinstance(held, dict) and isinstance(value, Mapping):
            _merge(held, value)
        else:
            into[key] = copy.deepcopy(value)
