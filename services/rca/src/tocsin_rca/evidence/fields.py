"""Which scalars differ between two trees, addressed the way edits address them."""

from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_contracts import FieldPath, Scalar

Difference = tuple[FieldPath, Scalar, Scalar]
Children = dict[str | int, Any]


def changed_scalars(before: Any, after: Any) -> tuple[Difference, ...]:
    """Return (path, before, after) of every scalar that differs; None where there is none.

    List items that all have a name of their own are matched by it, `[name=app]`, so that a new
    item moves nobody; other items are matched by position.
    """
    return tuple(_differences((), before, after))


def _differences(path: FieldPath, before: Any, after: Any) -> Iterator[Difference]:
    yield from _leaf(path, before, after)
    old, new = _paired(before, after)
    for step in dict.fromkeys([*old, *new]):
        yield from _differences((*path, step), old.get(step), new.get(step))


def _leaf(path: FieldPath, before: Any, after: Any) -> Iterator[Difference]:
    old, new = _scalar(before), _scalar(after)
    if old != new or type(old) is not type(new):
        yield path, old, new


def _paired(before: Any, after: Any) -> tuple[Children, Children]:
    old, new = _children(before), _children(after)
    if isinstance(before, list) and isinstance(after, list) and not _by_name(before, after):
        return dict(enumerate(before)), dict(enumerate(after))
    return old, new


def _by_name(before: list[Any], after: list[Any]) -> bool:
    return all(not items or _named(items) for items in (before, after))


def _children(tree: Any) -> Children:
    if isinstance(tree, Mapping):
        return {str(key): value for key, value in tree.items()}
    if isinstance(tree, list):
        return _named(tree) or dict(enumerate(tree))
    return {}


def _named(items: list[Any]) -> Children:
    if not all(isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items):
        return {}
    by_name: Children = {f"[name={item['name']}]": item for item in items}
    return by_name if len(by_name) == len(items) else {}


def _scalar(tree: Any) -> Scalar:
    if tree is None or isinstance(tree, str | int | float | bool):
        return tree
    return None if isinstance(tree, Mapping | list) else str(tree)
