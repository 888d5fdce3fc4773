"""Lists and mappings of a file as plain values, and when two of them say the same."""

from tocsin_contracts import Tree
from tocsin_gitops import scalars
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind


def read(node: Node) -> Tree:
    """Return what a node says; EditRefused where another place, or a tag, decides that as well."""
    if node.kind is NodeKind.ALIAS:
        raise EditRefused(f"the value is taken from another place, through the alias *{node.value}")
    if node.kind is NodeKind.SCALAR:
        return scalars.meaning(node)
    if node.tag is not None:
        raise EditRefused(f"the value carries the tag {node.tag}, which decides how it is read")
    if node.kind is NodeKind.SEQUENCE:
        return [read(child) for child in node.children]
    if any(key.value == "<<" for key, _ in node.pairs):
        raise EditRefused("the value holds a merge key, which takes fields from another place")
    return {key.value: read(value) for key, value in node.pairs}


def same(one: Tree, other: Tree) -> bool:
    """Whether two values are equal in meaning and type, the order of fields aside."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(v, other[k]) for k, v in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        return False
    return scalars.same(one, other)


def shown_by(written: Tree, seen: Tree) -> bool:
    """Whether a cluster may show `seen` for what is `written`: it fills in fields, and no more."""
    if isinstance(written, dict) and isinstance(seen, dict):
        return all(key in seen and shown_by(value, seen[key]) for key, value in written.items())
    if isinstance(written, list) and isinstance(seen, list):
        return len(written) == len(seen) and all(map(shown_by, written, seen))
    return same(written, seen)
