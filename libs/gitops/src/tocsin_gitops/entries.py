"""What an overlay may be given to change one field of one object, and that it is just that."""

from collections.abc import Mapping
from typing import Any

from tocsin_contracts import ChangeOp, Edit, EditOp, FieldChange, FieldPath, Scalar, Tree
from tocsin_gitops import images, trees, yaml_write
from tocsin_gitops.manifests import is_kustomization
from tocsin_gitops.yaml_layout import Habits
from tocsin_gitops.yaml_nodes import EditRefused, documents
from tocsin_gitops.yaml_paths import is_key

_MERGED = ("containers", "initContainers", "env", "volumes")
"""Lists of pods that a patch merges by the names of their items; it replaces others."""

_HABITS = Habits(step=2, dash=0, newline="\n")


def image(value: Scalar) -> Tree:
    """Return the entry of `images` that makes an image this one; EditRefused if none does."""
    wanted = images.parse(str(value))
    if not wanted.sound or (wanted.tag and wanted.digest):
        raise EditRefused(f"an entry of images cannot say {value!r}")
    part = {"digest": wanted.digest} if wanted.digest else {"newTag": wanted.tag}
    return {"name": wanted.name, **part}


def replicas(name: str, count: Scalar) -> Tree:
    """Return the entry of `replicas` for an object of that name."""
    return {"name": name, "count": count}


def patch(api_version: str, kind: str, name: str, change: tuple[FieldPath, Tree]) -> Tree:
    """Return the entry of `patches` that sets a field of one object."""
    tree = _whole(api_version, kind, name, change)
    lines = (line for k, v in tree.items() for line in yaml_write.entry(k, v, 0, _HABITS))
    return {"target": {"kind": kind, "name": name}, "patch": "\n".join(lines)}


def mergeable(kind: str, path: FieldPath, kinds: Mapping[str, FieldPath]) -> bool:
    """Whether a patch that holds nothing but a field sets that field and no other.

    `kinds` are those of which it is known how lists are merged.
    """
    pairs = [(path[n - 1], step) for n, step in enumerate(path) if not is_key(step)]
    by_name = all(
        name in _MERGED and isinstance(step, str) and step.startswith("[name=")
        for name, step in pairs
    )
    if pairs and (kind not in kinds or not by_name):
        return False
    return is_key(path[-1]) and not (not is_key(path[-2]) and path[-1] == "name")


def fault(edit: Edit, made: FieldChange) -> str:
    """Say why an edit of an overlay is not just the change that it says; empty if it is."""
    if made.op is not ChangeOp.SET or edit.op not in (EditOp.INSERT, EditOp.APPEND, EditOp.DELETE):
        return "an overlay is only given a value, or relieved of one"
    gone = edit.op is EditOp.DELETE
    given, value = (edit.before, made.before) if gone else (edit.after, made.after)
    if edit.document and edit.document.kind == made.object.kind:
        good = edit.document.name in made.object.name and edit.path == made.path
        good = good and trees.same(given, value)
    else:
        good = _is_entry(edit, made, value)
    return "" if good else f"{edit.file!r} would do something else than what it says it does"


def _is_entry(edit: Edit, made: FieldChange, value: Tree) -> bool:
    given = _given(edit)
    if given is None or not is_kustomization(edit.file) or isinstance(value, dict | list):
        return False
    match edit.path[0]:
        case "images":
            return made.path[-1:] == ("image",) and trees.same(given, _image(value))
        case "replicas":
            name = str(given.get("name"))
            same = trees.same(given, replicas(name, value))
            return made.path == ("spec", "replicas") and name in made.object.name and same
        case "patches":
            return _is_patch(given, made, value)
    return False


def _given(edit: Edit) -> dict[str, Any] | None:
    """Return the one entry that is given or taken away; None if it is not just one."""
    given = edit.before if edit.op is EditOp.DELETE else edit.after
    if edit.op is not EditOp.APPEND and len(edit.path) == 1:
        given = given[0] if isinstance(given, list) and len(given) == 1 else None
    return given if isinstance(given, dict) and edit.path else None


def _image(value: Scalar) -> Tree:
    try:
        return image(value)
    except EditRefused:
        return None


def _is_patch(given: Mapping[str, Any], made: FieldChange, value: Tree) -> bool:
    target, text = given.get("target"), given.get("patch")
    if not isinstance(target, dict) or not isinstance(text, str):
        return False
    try:
        read = [trees.read(root) for root in documents(text)]
    except EditRefused:
        return False
    held = read[0] if len(read) == 1 else None
    version = held.get("apiVersion") if isinstance(held, dict) else None
    kind, name = made.object.kind, str(target.get("name"))
    wanted: Tree = {"target": {"kind": kind, "name": name}, "patch": text}
    whole = _whole(str(version), kind, name, (made.path, value))
    return name in made.object.name and trees.same(dict(given), wanted) and trees.same(held, whole)


def _whole(
    api_version: str, kind: str, name: str, change: tuple[FieldPath, Tree]
) -> dict[str, Tree]:
    path, value = change
    for step in reversed(path):
        value = {str(step): value} if is_key(step) else [_named(str(step), value)]
    field = value if isinstance(value, dict) else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **field}


def _named(step: str, value: Tree) -> Tree:
    key, _, name = step.strip("[]").partition("=")
    return {key: name, **(value if isinstance(value, dict) else {})}
