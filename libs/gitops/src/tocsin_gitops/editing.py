"""Turn typed edits into new files, and new files into the diff a person approves."""

from collections.abc import Mapping, Sequence

from tocsin_contracts import Edit, EditOp
from tocsin_gitops import manifests, structure
from tocsin_gitops.diffs import unified_diff
from tocsin_gitops.splice import set_scalar
from tocsin_gitops.yaml_nodes import EditRefused

__all__ = ["EditRefused", "apply", "unified_diff"]


def apply(files: Mapping[str, bytes], edits: Sequence[Edit]) -> dict[str, bytes]:
    """Return the files that the edits touch, as they are afterwards; the others are left out.

    Raises EditRefused, naming the file, if any edit cannot be made: all edits or none.
    """
    after: dict[str, bytes] = {}
    for edit in edits:
        try:
            after[edit.file] = _applied({**files, **after}, edit)
        except EditRefused as refused:
            raise EditRefused(f"{edit.file!r}: {refused}") from refused
    return after


def _applied(files: Mapping[str, bytes], edit: Edit) -> bytes:
    data = files.get(edit.file)
    if edit.op is EditOp.CREATE:
        return _created(data, edit)
    if data is None:
        raise EditRefused("there is no such file")
    if edit.document is None:
        raise EditRefused("the edit does not say which document it changes")
    document = manifests.meant(edit.file, data, edit.document)
    return _edited(data, document.index, edit)


def _edited(data: bytes, document: int, edit: Edit) -> bytes:
    match edit.op:
        case EditOp.INSERT:
            return structure.insert(data, document, edit.path, edit.after)
        case EditOp.APPEND:
            return structure.append(data, document, edit.path, edit.before, edit.after)
        case EditOp.DELETE:
            return structure.delete(data, document, edit.path, edit.before)
    if edit.old_tree is not None or edit.new_tree is not None:
        raise EditRefused("only a scalar can be set")
    return set_scalar(data, document, edit.path, edit.old, edit.new)


def _created(data: bytes | None, edit: Edit) -> bytes:
    if data is not None:
        raise EditRefused("the file to create is there already")
    if not isinstance(edit.new, str):
        raise EditRefused(f"a new file is text, not {edit.new!r}")
    return edit.new.encode()
