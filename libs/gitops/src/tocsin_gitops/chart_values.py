"""What an edit of a chart's value or of an overlay may be: it is judged as what it makes."""

from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_contracts import ChangeOp, Edit, EditOp, FieldChange, FieldPath, Tree
from tocsin_gitops import entries
from tocsin_gitops.manifests import VALUES
from tocsin_gitops.yaml_nodes import EditRefused

_HELM = ("spec", "source", "helm")
_INLINE: Mapping[str, tuple[FieldPath, ...]] = {
    VALUES: ((),),
    "HelmRelease": (("spec", "values"),),
    "Application": ((*_HELM, "valuesObject"), (*_HELM, "parameters")),
}
"""Which kinds hold values of charts, and where; nothing else of them is ever changed."""


def as_change(edit: Edit) -> Edit:
    """Return the edit as if it were made in the object; one that is, as it is."""
    made = edit.renders
    if made is None:
        return edit
    update: dict[str, Any] = {
        "op": EditOp(made.op.value),
        "document": made.object,
        "path": made.path,
        "old": made.old,
        "new": made.new,
        "old_tree": made.old_tree,
        "new_tree": made.new_tree,
        "renders": None,
    }
    return edit.model_copy(update=update)


def fault(edit: Edit) -> str:
    """Say why an edit cannot be what it says; empty if it can, or is of an object itself."""
    made, kind = edit.renders, edit.document.kind if edit.document else ""
    if made is None:
        return "a file of values changes only for an object" if kind == VALUES else ""
    if kind in ("Kustomization", made.object.kind):
        return entries.fault(edit, made)
    places = _INLINE.get(kind, ())
    if not any(edit.path[: len(p)] == p and len(edit.path) > len(p) for p in places):
        return f"{kind!r} holds no values of a chart there"
    told = [*_leaves(made.after), *_leaves(made.before)]
    unsaid = [one for one in _leaves(edit.after) if not any(one in text for text in told)]
    return f"{unsaid[0]!r} is no part of what the object is to have" if unsaid else ""


def inverse(made: FieldChange) -> FieldChange:
    """Return the change that takes one back; EditRefused for an item of a list."""
    update: dict[str, Any] = {"old": made.new, "old_tree": made.new_tree, "undo_of": ""}
    match made.op:
        case ChangeOp.SET:
            return made.model_copy(update={**update, "new": made.old, "new_tree": made.old_tree})
        case ChangeOp.INSERT:
            gone = {"op": ChangeOp.DELETE, "new": None, "new_tree": None}
            return made.model_copy(update={**update, **gone})
    raise EditRefused(f"what was done to {made.object} has no exact undo")


def _leaves(value: Tree) -> Iterator[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)
    elif value is not None:
        yield str(value).lower()
