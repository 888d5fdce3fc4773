"""Prove that an edited YAML file differs from the one before in what was declared, and no more."""

from collections.abc import Collection
from typing import Any

from tocsin_contracts import FieldPath, Tree
from tocsin_gitops import removing, trees
from tocsin_gitops.removing import Parts
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind
from tocsin_gitops.yaml_paths import trail

Documents = tuple[Node, ...]


def prove_added(
    before: Documents, after: Documents, place: tuple[int, FieldPath], value: Tree
) -> None:
    """Take the new field or item away in thought: then both files must be equal."""
    index, path = place
    way = trail(after[index], path)
    if not trees.same(trees.read(way[-1]), value):
        raise EditRefused(f"the file would not read back as {value!r}")
    _prove_equal(before, (), after, removing.parts(way).nodes)


def prove_removed(before: Documents, after: Documents, gone: Parts) -> None:
    """Take the same away in thought: then both files must be equal."""
    _prove_equal(before, gone.nodes, after, ())


def _prove_equal(
    before: Documents, gone: Collection[Node], after: Documents, new: Collection[Node]
) -> None:
    if [_outline(root, gone) for root in before] != [_outline(root, new) for root in after]:
        raise EditRefused("the edit would change more than its field")


def _outline(node: Node, without: Collection[Node]) -> tuple[Any, ...]:
    """All that YAML readers see of a node; whether nothing stands in brackets they do not."""
    below = tuple(_outline(child, without) for child in node.children if child not in without)
    style = node.style if below or node.kind is NodeKind.SCALAR else None
    return node.kind, node.anchor, node.tag, node.value, style, below
