"""Whether what a file says is what the evidence shows, whichever words either uses."""

from tocsin_contracts import ChangeOp, FieldChange, FieldPath, Tree
from tocsin_gitops import quantity, trees


def agrees(written: Tree, change: FieldChange) -> bool:
    """Whether a cluster may show what the change expects for what is written in the file.

    A list may be put together from several layers: then the file holds only some of the items.
    """
    seen = change.before
    if change.op is ChangeOp.SET:
        return equal(written, seen, change.path)
    if isinstance(written, list) and isinstance(seen, list):
        return all(any(trees.shown_by(item, one) for one in seen) for item in written)
    return trees.shown_by(written, seen)


def equal(one: Tree, other: Tree, path: FieldPath) -> bool:
    """Whether two values of a field mean the same; amounts do in any unit."""
    if "resources" not in path or isinstance(one, dict | list) or isinstance(other, dict | list):
        return trees.same(one, other)
    try:
        return quantity.parse(one) == quantity.parse(other)
    except quantity.NotAQuantity:
        return trees.same(one, other)
