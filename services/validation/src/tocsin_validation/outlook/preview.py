"""What an object becomes in the cluster: the finding's changes, made on a copy of it. Pure."""

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ChangeOp, FieldChange, FieldPath, Finding, ObjectRef
from tocsin_gitops import manifests, trees
from tocsin_gitops.editing import EditRefused
from tocsin_validation.ports import Proposed

_CHOICE = re.compile(r"\[([^=\]]+)=(.*)\]")
_TURNED = {
    ChangeOp.SET: ChangeOp.SET,
    ChangeOp.INSERT: ChangeOp.DELETE,
    ChangeOp.DELETE: ChangeOp.INSERT,
}
_ENDS = ("CronJob", "Job", "Pod")
"""Kinds with a pod template that need no selector to be whole."""


def applied(raw: Mapping[str, Any], changes: Iterable[FieldChange]) -> dict[str, Any] | None:
    """Return a copy with the changes made; None where one of them has no place in it."""
    made = copy.deepcopy(dict(raw))
    good = all(_make(made, change) for change in changes)
    return made if good else None


def states(change: Proposed) -> tuple[Manifest, Manifest] | None:
    """Return the object of the finding before and after, None if neither is known as a whole.

    What the cluster shows comes first; a file counts only if it holds all of the object.
    """
    finding = change.hypothesis.finding
    of = finding.change.object if finding.change else finding.object
    mine = [one for one in finding.changes if one.object == of]
    for base in (change.around.live.value, written(change, of)):
        after = applied(base.raw, mine) if base and base.whole else None
        if base and after is not None:
            return base, Manifest(after)
    return None


def written(change: Proposed, of: ObjectRef) -> Manifest | None:
    """Return the object as the touched files hold it, if one of them holds the whole of it."""
    for file, data in change.before.items():
        try:
            raw = trees.read(manifests.select(manifests.read(file, data), of).node)
        except EditRefused:
            continue
        found = Manifest(raw) if isinstance(raw, dict) else None
        if found and (of.kind in _ENDS or found.dig("spec", "selector") is not None):
            return found
    return None


def backwards(finding: Finding) -> Finding:
    """Return a finding of which the changes undo those of this one; of none where one cannot be."""
    turned = [_turned(change) for change in reversed(finding.changes)]
    first, *further = turned if turned and None not in turned else [None]
    return finding.model_copy(
        update={"change": first, "further": tuple(one for one in further if one)}
    )


def held(data: Any, path: FieldPath) -> Any:
    """Return what an object holds at a path; None for nothing."""
    for step in path:
        position = _position(data, step)
        if position is None:
            return None
        data = data[position]
    return data


def _turned(change: FieldChange) -> FieldChange | None:
    last = change.path[-1]
    is_key = isinstance(last, str) and not _CHOICE.fullmatch(last)
    op = _TURNED.get(change.op)
    if op is None or not is_key:
        return None
    return change.model_copy(
        update={
            "op": op,
            "old": change.new,
            "new": change.old,
            "old_tree": change.new_tree,
            "new_tree": change.old_tree,
        }
    )


def _make(made: dict[str, Any], change: FieldChange) -> bool:
    *way, last = change.path
    match change.op:
        case ChangeOp.APPEND:
            found = held(made, change.path)
            return isinstance(found, list) and _append(found, change.after)
        case ChangeOp.INSERT:
            return _put(_opened(made, tuple(way)), last, change.after)
        case ChangeOp.DELETE:
            return _take(held(made, tuple(way)), last)
    holder = held(made, tuple(way))
    known = _position(holder, last)
    return known is not None and _put(holder, known, change.after)


def _position(data: Any, step: str | int) -> str | int | None:
    """Return the key or index that a step means in there; None if it means nothing."""
    choice = _CHOICE.fullmatch(step) if isinstance(step, str) else None
    if isinstance(data, dict):
        return step if step in data else None
    if not isinstance(data, list):
        return None
    if choice is None:
        return step if isinstance(step, int) and 0 <= step < len(data) else None
    fitting = (
        n
        for n, one in enumerate(data)
        if isinstance(one, dict) and str(one.get(choice[1])) == choice[2]
    )
    return next(fitting, None)


def _opened(data: Any, path: FieldPath) -> Any:
    """Return what lies at a path; mappings that are missing on the way are made."""
    for step in path:
        if isinstance(data, dict) and isinstance(step, str) and data.get(step) is None:
            data[step] = {}
        position = _position(data, step)
        if position is None:
            return None
        data = data[position]
    return data


def _put(holder: Any, place: str | int, value: Any) -> bool:
    if isinstance(holder, dict):
        holder.update({place: value})
    elif isinstance(holder, list) and isinstance(place, int):
        holder[place] = value
    else:
        return False
    return True


def _append(found: list[Any], value: Any) -> bool:
    found.append(value)
    return True


def _take(holder: Any, step: str | int) -> bool:
    position = _position(holder, step)
    if position is None:
        return False
    del holder[position]
    return True
