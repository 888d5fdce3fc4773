"""Follow a field path through YAML nodes, and stop where the way is not the field's own."""

import re

from tocsin_contracts import FieldPath
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, walk

_SELECTOR = re.compile(r"\[([^=\]]+)=(.*)\]")


class PathMissing(EditRefused):
    """The document holds nothing at that path."""


def find(root: Node, path: FieldPath) -> Node:
    """Return the node at the path; PathMissing if there is none."""
    return trail(root, path)[-1]


def trail(root: Node, path: FieldPath) -> tuple[Node, ...]:
    """Return every node from the root to the one at the path."""
    nodes = [root]
    for position, step in enumerate(path):
        nodes.append(_step(nodes[-1], step, path_text(path[: position + 1])))
    return tuple(nodes)


def path_text(path: FieldPath) -> str:
    """Write a path the way people do: spec.containers[name=app].image."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _SELECTOR.fullmatch(step):
            text += step
        else:
            text += f".{step}" if text else step
    return text


def is_key(step: str | int) -> bool:
    """Whether a step names a field of a mapping, and does not choose an item of a list."""
    return isinstance(step, str) and not _SELECTOR.fullmatch(step)


def refuse_shared(root: Node, way: tuple[Node, ...], where: str) -> None:
    """Refuse a place that other places of the document show as well."""
    used = {node.value for node in walk(root) if node.kind is NodeKind.ALIAS}
    for node in way:
        if node.anchor in used:
            raise EditRefused(f"other places use &{node.anchor} and would change with {where}")


def _step(node: Node, step: str | int, where: str) -> Node:
    if node.kind is NodeKind.ALIAS:
        raise EditRefused(f"the way to {where} leads through the alias *{node.value}")
    if isinstance(step, int):
        return _item(node, step, where)
    selector = _SELECTOR.fullmatch(step)
    if selector and node.kind is NodeKind.SEQUENCE:
        return _selected(node, selector[1], selector[2], where)
    return _value(node, step, where)


def _item(node: Node, index: int, where: str) -> Node:
    if node.kind is not NodeKind.SEQUENCE or not 0 <= index < len(node.children):
        raise PathMissing(f"there is nothing at {where}")
    return node.children[index]


def _value(node: Node, key: str, where: str) -> Node:
    if node.kind is not NodeKind.MAPPING:
        raise PathMissing(f"there is nothing at {where}")
    for name, value in node.pairs:
        if name.value == key:
            return value
    if any(name.value == "<<" for name, _ in node.pairs):
        raise EditRefused(f"{where} may come through a merge key, which other places use as well")
    raise PathMissing(f"there is nothing at {where}")


def _selected(node: Node, key: str, wanted: str, where: str) -> Node:
    chosen = [item for item in node.children if _says(item, key, wanted, where)]
    if not chosen:
        raise PathMissing(f"there is nothing at {where}")
    if len(chosen) > 1:
        raise EditRefused(f"{len(chosen)} list items match {where}; exactly one must")
    return chosen[0]


def _says(item: Node, key: str, wanted: str, where: str) -> bool:
    try:
        found = _step(item, key, where)
    except PathMissing:
        return False
    if found.kind is NodeKind.ALIAS:
        raise EditRefused(f"a list item at {where} is named through the alias *{found.value}")
    return found.kind is NodeKind.SCALAR and found.value == wanted
