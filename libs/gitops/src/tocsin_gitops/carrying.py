"""Carry edits over to another version of their files, and turn them round; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from tocsin_contracts import Edit, EditOp, Tree
from tocsin_gitops import chart_values, editing, manifests, quantity, trees
from tocsin_gitops.agreement import equal
from tocsin_gitops.quantity import NotAQuantity
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_gitops.yaml_paths import PathMissing, find, path_text


def carried(
    edits: Sequence[Edit], files: Mapping[str, bytes], *, exactly: bool = False
) -> tuple[Edit, ...]:
    """Return the edits that these files still lack, each with the value that they hold.

    An amount that was changed further is not lacking, unless all is wanted `exactly`.

    None are left where the files hold everything. EditRefused names what stands in the way: a
    file, document or field that is gone, or that holds what no edit can be made of.
    """
    files, left = dict(files), []
    for edit in edits:
        one = _carried(edit, files, exactly)
        if one is not None:
            files |= editing.apply(files, (one,))
            left.append(one)
    return tuple(left)


def inverse(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return what undoes the edits, last one first.

    EditRefused for those that cannot be turned round. Whether the bytes come back is to be seen.
    """
    return tuple(_inverse(edit) for edit in reversed(edits))


def _carried(edit: Edit, files: Mapping[str, bytes], exactly: bool) -> Edit | None:
    data = files.get(edit.file)
    if edit.op is EditOp.CREATE:
        return _created(edit, data)
    if data is None or edit.document is None:
        raise EditRefused(f"{edit.file!r} is not there")
    held = _held(edit, data)
    match edit.op:
        case EditOp.SET if held:
            return _set(edit, held[0], exactly)
        case EditOp.INSERT:
            return None if held and trees.same(held[0], edit.after) else _only(edit, not held)
        case EditOp.DELETE:
            return None if not held else _only(edit, trees.same(held[0], edit.before))
        case EditOp.APPEND if held and isinstance(held[0], list):
            return _appended(edit, held[0])
    raise EditRefused(f"there is nothing at {_place(edit)}")


def _created(edit: Edit, data: bytes | None) -> Edit | None:
    if data is None:
        return edit
    if data.decode(errors="replace") == edit.new:
        return None
    raise EditRefused(f"{edit.file!r} is there already and says something else")


def _set(edit: Edit, held: Tree, exactly: bool) -> Edit | None:
    if equal(held, edit.after, edit.path) or (not exactly and _goes_further(edit, held)):
        return None
    if isinstance(held, dict | list):
        raise EditRefused(f"{_place(edit)} is no single value")
    return edit.model_copy(update={"old": held})


def _goes_further(edit: Edit, held: Tree) -> bool:
    """Whether an amount is changed the same way already, and at least as far."""
    if "resources" not in edit.path:
        return False
    try:
        old, new, now = map(_amount, (edit.before, edit.after, held))
    except NotAQuantity:
        return False
    return bool(old < new <= now or now <= new < old)


def _amount(value: Tree) -> Any:
    if isinstance(value, dict | list):
        raise NotAQuantity(repr(value))
    return quantity.parse(value)


def _appended(edit: Edit, held: list[Tree]) -> Edit | None:
    if any(trees.same(one, edit.after) for one in held):
        return None
    if edit.renders and any(_is_rival(one, edit) for one in held):
        raise EditRefused(f"{_place(edit)} holds another value for it")
    return edit.model_copy(update={"old": None, "old_tree": held})


def _is_rival(item: Tree, edit: Edit) -> bool:
    """Whether an item that the edit did not find there is for the same image or object."""
    before = edit.before if isinstance(edit.before, list) else []
    if not isinstance(item, dict) or not isinstance(edit.after, dict):
        return False
    same = (item.get(key) == edit.after.get(key) for key in ("name", "target"))
    return all(same) and not any(trees.same(item, one) for one in before)


def _only(edit: Edit, possible: bool) -> Edit:
    if not possible:
        raise EditRefused(f"{_place(edit)} holds something else")
    return edit


def _held(edit: Edit, data: bytes) -> list[Tree]:
    """What the file holds at the path, in a list; an empty one for nothing."""
    if edit.document is None:
        return []
    document = manifests.meant(edit.file, data, edit.document)
    try:
        return [trees.read(find(document.node, edit.path))]
    except PathMissing:
        return []


def _place(edit: Edit) -> str:
    return f"{path_text(edit.path)} of {edit.file!r}"


def _inverse(edit: Edit) -> Edit:
    update: dict[str, Any] = {"old": edit.new, "old_tree": edit.new_tree, "undo_of": ""}
    if edit.renders:
        update["renders"] = chart_values.inverse(edit.renders)
    match edit.op:
        case EditOp.SET:
            return edit.model_copy(update=update | {"new": edit.old, "new_tree": edit.old_tree})
        case EditOp.INSERT:
            gone = {"op": EditOp.DELETE, "new": None, "new_tree": None}
            return edit.model_copy(update=update | gone)
        case EditOp.APPEND if edit.renders and isinstance(edit.before, list):
            item = {"path": (*edit.path, len(edit.before))}
            gone = {"op": EditOp.DELETE, "new": None, "new_tree": None}
            return edit.model_copy(update=update | item | gone)
    raise EditRefused(f"what was done to {edit.file!r} has no exact undo")
