"""Take back what a commit did to a field: what it added goes, the rest returns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tocsin_contracts import FieldChange, FieldPath, ObjectRef, Tree
from tocsin_rca.evidence.remedy import all_of, appended, deleted, inserted
from tocsin_rca.ports import ChangedField

Root = Callable[[ChangedField], FieldPath]
_NAMED = "[name="


def given_back(
    target: ObjectRef, now: Any, fields: Sequence[ChangedField], root: Root
) -> tuple[FieldChange, ...]:
    """Return the changes that make `fields` what they were; none if one of them cannot be said.

    `now` is the object as its file has it. `root` names the field that one is a part of: nothing
    above that is taken away or added as a whole.
    """
    return all_of(
        (
            *_set(target, fields),
            *_removed(target, now, fields, root),
            *_added(target, now, fields, root),
        )
    )


def _set(target: ObjectRef, fields: Iterable[ChangedField]) -> Iterator[FieldChange]:
    for one in fields:
        if one.before is not None and one.after is not None:
            yield FieldChange(object=target, path=one.path, old=one.after, new=one.before)


def _removed(
    target: ObjectRef, now: Any, fields: Sequence[ChangedField], root: Root
) -> Iterator[FieldChange | None]:
    """Take away what the commit added, the whole of it where all of it is new."""
    new = {one.path: root(one) for one in fields if one.before is None}
    whole: dict[FieldPath, None] = {}
    for path, top in new.items():
        prefixes = (path[:length] for length in range(len(top), len(path) + 1))
        whole.setdefault(next(p for p in prefixes if _leaves(at(now, p), p) <= new.keys()))
    for path in sorted(whole, key=lambda path: [str(step) for step in path], reverse=True):
        yield deleted(target, path, at(now, path))


def _added(
    target: ObjectRef, now: Any, fields: Sequence[ChangedField], root: Root
) -> Iterator[FieldChange | None]:
    """Give back what the commit removed, with what stood around it if that is gone as well."""
    lost = [one for one in fields if one.after is None]
    tops: dict[FieldPath, list[ChangedField]] = {}
    for one in lost:
        prefixes = (one.path[:n] for n in range(len(root(one)), len(one.path) + 1))
        top = next((p for p in prefixes if at(now, p) is None), one.path)
        tops.setdefault(top, []).append(one)
    held: dict[FieldPath, list[Tree]] = {}
    for top, parts in tops.items():
        value = _assembled([(part.path[len(top) :], part.before) for part in parts])
        if _is_key(top[-1]):
            yield inserted(target, top, value)
            continue
        around = at(now, top[:-1])
        items = held.setdefault(top[:-1], list(around) if isinstance(around, list) else [])
        stood = not isinstance(top[-1], int) or top[-1] == len(items)
        yield appended(target, top[:-1], list(items), value) if items and stood else None
        items.append(value)


def at(tree: Any, path: FieldPath) -> Any:
    """Return what a tree holds at a path; None for nothing."""
    for step in path:
        if isinstance(tree, list):
            found = [item for n, item in enumerate(tree) if _chooses(step, n, item)]
            tree = found[0] if len(found) == 1 else None
        else:
            tree = tree.get(step) if isinstance(tree, dict) else None
    return tree


def _chooses(step: str | int, number: int, item: Any) -> bool:
    if isinstance(step, int):
        return step == number
    return isinstance(item, dict) and step == f"{_NAMED}{item.get('name')}]"


def _leaves(tree: Any, path: FieldPath) -> set[FieldPath]:
    """The paths of all scalars below a path, as changes name them."""
    if isinstance(tree, dict):
        return {leaf for key, value in tree.items() for leaf in _leaves(value, (*path, str(key)))}
    if isinstance(tree, list):
        named = all(isinstance(item, dict) and "name" in item for item in tree)
        steps = [f"{_NAMED}{item['name']}]" if named else n for n, item in enumerate(tree)]
        pairs = zip(steps, tree, strict=True)
        return {leaf for step, value in pairs for leaf in _leaves(value, (*path, step))}
    return {path}


def _assembled(parts: Sequence[tuple[FieldPath, Tree]]) -> Tree:
    """Build the tree that has these scalars at these paths."""
    if parts[0][0] == ():
        return parts[0][1]
    below: dict[str | int, list[tuple[FieldPath, Tree]]] = {}
    for path, value in parts:
        below.setdefault(path[0], []).append((path[1:], value))
    built = {step: _assembled(inner) for step, inner in below.items()}
    if all(_is_key(step) for step in built):
        return {str(step): value for step, value in built.items()}
    return list(built.values())


def _is_key(step: str | int) -> bool:
    return isinstance(step, str) and not step.startswith(_NAMED)


def marked(changes: Iterable[FieldChange], commit: str) -> tuple[FieldChange, ...]:
    """Return the changes as what undoes a commit, which the write policy then checks."""
    return tuple(one.model_copy(update={"undo_of": commit}) for one in changes)
