"""Prove that a change of a value makes the change of an object that is wanted, and no other."""

import copy
from typing import Any

from tocsin_contracts import ChangeOp, FieldChange, FieldPath
from tocsin_gitops import trees
from tocsin_gitops.helm.chart import Chart, Rendering
from tocsin_gitops.helm.made import Made
from tocsin_gitops.yaml_nodes import EditRefused, NodeKind
from tocsin_gitops.yaml_paths import find, is_key


def fault(
    chart: Chart, renderings: tuple[Rendering, Rendering], change: FieldChange, value: FieldPath
) -> str:
    """Say what a change of a value does beside the change that is wanted; empty if nothing."""
    before, after = renderings
    for file, why in {**before.unread, **after.unread}.items():
        if chart.may_use(file, value):
            return f"{file!r} may use it as well, and cannot be followed: {why}"
    names = [[(one.template, one.ref) for one in side.made] for side in renderings]
    if names[0] != names[1]:
        return "it would make other objects, or fewer"
    for old, new in zip(before.made, after.made, strict=True):
        wanted = expected(old, change) if is_meant(old, change) else old.tree
        if not trees.same(new.tree, wanted):
            own = "in another way than is wanted" if is_meant(old, change) else "as well"
            return f"it would change {old.ref} {own}"
    return ""


def is_meant(made: Made, change: FieldChange) -> bool:
    """Whether an object is the one that should change."""
    same = (made.ref.kind, made.ref.name) == (change.object.kind, change.object.name)
    return same and made.ref.namespace in ("", change.object.namespace)


def expected(made: Made, change: FieldChange) -> Any:
    """Return the object with the change made."""
    tree = copy.deepcopy(made.tree)
    *way, last = change.path
    if change.op is ChangeOp.APPEND:
        way = [*change.path]
    inside = _reached(tree, made, tuple(way))
    match change.op:
        case ChangeOp.APPEND if isinstance(inside, list):
            inside.append(change.after)
        case ChangeOp.DELETE:
            del inside[_step(made, tuple(way), last)]
        case ChangeOp.SET if isinstance(inside, list):
            inside[_step(made, tuple(way), last)] = change.after
        case _ if isinstance(inside, dict):
            inside[str(last)] = change.after
    return tree


def _reached(tree: Any, made: Made, path: FieldPath) -> Any:
    """Return what lies at a path; mappings and the last list that are missing are made."""
    for at, step in enumerate(path):
        if is_key(step):
            if not isinstance(tree, dict):
                raise EditRefused(f"there is no mapping for {step!r} in what the chart makes")
            if tree.get(step) is None:
                tree[step] = {}
            tree = tree[step]
        else:
            tree = tree[_step(made, path[:at], step)]
    return tree


def _step(made: Made, path: FieldPath, step: str | int) -> Any:
    """Return the position that a step means."""
    around = find(made.node, path)
    if around.kind is not NodeKind.SEQUENCE:
        return step
    chosen = find(made.node, (*path, step))
    return next(n for n, one in enumerate(around.children) if one is chosen)
