"""Which value of a chart may decide a field, by where the templates show it; proved elsewhere."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tocsin_contracts import ChangeOp, FieldChange, FieldPath, Tree
from tocsin_gitops.helm.made import Made
from tocsin_gitops.helm.marked import Val, said
from tocsin_gitops.yaml_nodes import Node
from tocsin_gitops.yaml_paths import PathMissing, find, is_key


@dataclass(frozen=True, slots=True)
class Candidate:
    """What could be done to one value of a chart."""

    path: FieldPath
    op: ChangeOp
    value: Tree = None


def candidates(
    target: Made, change: FieldChange, skipped: Iterable[FieldPath]
) -> Iterator[Candidate]:
    """Yield what may make the change; `skipped` are values that left a part of the template out."""
    match change.op:
        case ChangeOp.SET:
            yield from _set(target, find(target.node, change.path), change.after)
        case ChangeOp.INSERT:
            yield from _inserted(target, change, skipped)
        case ChangeOp.APPEND:
            yield from _appended(target, change, skipped)
        case ChangeOp.DELETE:
            for path in _behind(target, find(target.node, change.path)):
                yield Candidate(path, change.op)


def _set(target: Made, node: Node, after: Tree) -> Iterator[Candidate]:
    parts = target.parts.get(node, [])
    texts = [p if isinstance(p, str) else said(replace(p, quotes="")) for p in parts]
    for at, part in enumerate(parts):
        if not isinstance(part, Val) or part.origin is None:
            continue
        if len(parts) == 1:
            yield Candidate(part.origin, ChangeOp.SET, _typed(part, after))
            yield Candidate(part.origin, ChangeOp.SET, after)
            continue
        before, behind, whole = "".join(texts[:at]), "".join(texts[at + 1 :]), str(after)
        fits = whole.startswith(before) and whole.endswith(behind)
        if fits and len(whole) > len(before) + len(behind):
            value = whole[len(before) : len(whole) - len(behind)]
            yield Candidate(part.origin, ChangeOp.SET, _typed(part, value))


def _typed(part: Val, after: Tree) -> Tree:
    """Return the new value as the old one is written: text stays text, a number a number."""
    data: Any = part.data
    if isinstance(data, str) and not isinstance(after, dict | list | bool | None):
        return str(after)
    number = isinstance(data, int) and not isinstance(data, bool)
    return int(after) if number and isinstance(after, str) and after.isdecimal() else after


def _inserted(
    target: Made, change: FieldChange, skipped: Iterable[FieldPath]
) -> Iterator[Candidate]:
    node, length = _deepest(target.node, change.path)
    rest = change.path[length:]
    if all(map(is_key, rest)):
        for path in target.origins.get(node, []):
            yield Candidate((*path, *rest), ChangeOp.INSERT, change.after)
    for path in skipped:
        for at in range(length + 1, len(change.path) + 1):
            if _is_called(path, change.path[at - 1]) and all(map(is_key, change.path[at:])):
                yield Candidate((*path, *change.path[at:]), ChangeOp.INSERT, change.after)


def _appended(
    target: Made, change: FieldChange, skipped: Iterable[FieldPath]
) -> Iterator[Candidate]:
    node, length = _deepest(target.node, change.path)
    if length == len(change.path):
        for path in target.origins.get(node, []):
            yield Candidate(path, ChangeOp.APPEND, change.after)
    for path in skipped:
        if _is_called(path, change.path[-1]):
            yield Candidate(path, ChangeOp.APPEND, change.after)


def _behind(target: Made, node: Node) -> Iterator[FieldPath]:
    yield from target.origins.get(node, [])
    parts = target.parts.get(node, [])
    if len(parts) == 1 and isinstance(parts[0], Val) and parts[0].origin is not None:
        yield parts[0].origin


def _deepest(root: Node, path: FieldPath) -> tuple[Node, int]:
    """Return the last node on the way that is there, and how many steps lead to it."""
    for length in range(len(path), -1, -1):
        try:
            return find(root, path[:length]), length
        except PathMissing:
            continue
    return root, 0


def _is_called(value: FieldPath, step: str | int) -> bool:
    """Whether a value may be for a field, by its name: podLabels for labels."""
    return isinstance(step, str) and str(value[-1]).casefold().endswith(step.casefold())
