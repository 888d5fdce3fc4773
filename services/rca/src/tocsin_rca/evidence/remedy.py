"""A cure that is more than another value of one field: changes that belong together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tocsin_contracts import (
    ChangeOp,
    FieldChange,
    FieldPath,
    Finding,
    ObjectRef,
    Scalar,
    Tree,
    is_small,
)
from tocsin_gitops.yaml_paths import path_text


@dataclass(frozen=True, slots=True)
class Remedy:
    """Everything that has to change, why just that, and the evidence that says so."""

    changes: tuple[FieldChange, ...]
    because: str
    ids: tuple[str, ...] = ()


def with_remedy(finding: Finding, remedy: Remedy | None) -> Finding:
    """Return the finding with its cure; as it was, where there is none."""
    if remedy is None or not remedy.changes:
        return finding
    first, *further = remedy.changes
    update = {
        "change": first,
        "further": tuple(further),
        "because": remedy.because,
        "evidence": tuple(dict.fromkeys((*finding.evidence, *remedy.ids))),
    }
    return finding.model_copy(update=update)


def words(change: FieldChange) -> str:
    """Say a change on one line: where, and what becomes of what."""
    where = f"{change.object} {path_text(change.path)}"
    match change.op:
        case ChangeOp.INSERT:
            return f"{where}: add {change.after!r}"
        case ChangeOp.APPEND:
            return f"{where}: add {change.after!r} to {change.before!r}"
        case ChangeOp.DELETE:
            return f"{where}: remove {change.before!r}"
    return f"{where}: {change.old!r} -> {change.new!r}"


def valued(target: ObjectRef, path: FieldPath, old: Any, new: Any) -> FieldChange | None:
    """Return the change that gives a field a value, whether or not it had one.

    None where what is there, or what should be, is no scalar: a manifest may hold anything.
    """
    if new is None or not all(isinstance(one, Scalar | None) for one in (old, new)):
        return None
    if old is None:
        return FieldChange(object=target, path=path, new=new, op=ChangeOp.INSERT)
    return FieldChange(object=target, path=path, old=old, new=new)


def inserted(target: ObjectRef, path: FieldPath, new: Tree) -> FieldChange | None:
    """Return the change that adds a field; None if it is too much for one."""
    return _change(target, path, ChangeOp.INSERT, None, new)


def appended(target: ObjectRef, path: FieldPath, old: Tree, new: Tree) -> FieldChange | None:
    """Return the change that adds an item to a list which holds `old`."""
    return _change(target, path, ChangeOp.APPEND, old, new)


def deleted(target: ObjectRef, path: FieldPath, old: Tree) -> FieldChange | None:
    """Return the change that takes a field away which holds `old`."""
    return _change(target, path, ChangeOp.DELETE, old, None)


def all_of(changes: Iterable[FieldChange | None]) -> tuple[FieldChange, ...]:
    """Return the changes, or none of them if one cannot be said."""
    found = tuple(changes)
    said = tuple(one for one in found if one)
    return said if len(said) == len(found) else ()


def _change(
    target: ObjectRef, path: FieldPath, op: ChangeOp, old: Tree, new: Tree
) -> FieldChange | None:
    if not is_small(old) or not is_small(new):
        return None
    change = FieldChange(object=target, path=path, op=op)
    if isinstance(old, dict | list):
        change = change.model_copy(update={"old_tree": old})
    else:
        change = change.model_copy(update={"old": old})
    name = "new_tree" if isinstance(new, dict | list) else "new"
    return change.model_copy(update={name: new})
