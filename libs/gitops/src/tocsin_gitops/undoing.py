"""The proof that an edit exactly undoes a commit, so that what it brings back ran here before."""

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_contracts import Edit, EditOp, ObjectRef, Tree
from tocsin_gitops import manifests, trees
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_gitops.yaml_paths import PathMissing, find, path_text


@dataclass(frozen=True, slots=True)
class Step:
    """What one commit made of one file; None where there is no such file."""

    commit: str
    file: str
    before: bytes | None
    after: bytes | None


def fault(edit: Edit, known: Iterable[Step]) -> str:
    """Return why an edit is not the exact undo of the commit that it names; empty if it is."""
    for step in known:
        if (step.commit, step.file) == (edit.undo_of, edit.file):
            undone = edit.document is not None and _undoes(edit, edit.document, step)
            where = f"{path_text(edit.path)} of {edit.file!r}"
            return "" if undone else f"commit {step.commit[:10]} did something else to {where}"
    return f"commit {edit.undo_of[:10]!r} is none of the last that changed {edit.file!r}"


def _undoes(edit: Edit, document: ObjectRef, step: Step) -> bool:
    was, became = (_held(data, document, edit) for data in (step.before, step.after))
    match edit.op:
        case EditOp.SET:
            return _is(was, edit.after) and _is(became, edit.before)
        case EditOp.INSERT:
            return _is(was, edit.after) and not became
        case EditOp.DELETE:
            return not was and _is(became, edit.before)
        case EditOp.APPEND:
            return _gives_back(edit, was, became)
    return False


def _gives_back(edit: Edit, was: list[Tree], became: list[Tree]) -> bool:
    """An item that has a name stands anywhere in its list, any other just where it stood."""
    before, after, now = (one[0] if one else None for one in (was, became, [edit.before]))
    if not isinstance(before, list) or not isinstance(now, list):
        return False
    item = edit.after
    if isinstance(item, dict) and "name" in item:
        left = after if isinstance(after, list) else []
        return any(trees.same(item, one) for one in before) and not any(
            isinstance(one, dict) and one.get("name") == item["name"] for one in left
        )
    return trees.same(before[: len(now) + 1], [*now, item])


def _is(held: list[Tree], value: Tree) -> bool:
    return bool(held) and trees.same(held[0], value)


def _held(data: bytes | None, document: ObjectRef, edit: Edit) -> list[Tree]:
    """Return what a version of the file holds there, in a list; an empty one for nothing."""
    if data is None:
        return []
    try:
        found = manifests.meant(edit.file, data, document)
        return [trees.read(find(found.node, edit.path))]
    except PathMissing:
        return []
    except EditRefused:
        return [{"unreadable": True}]
