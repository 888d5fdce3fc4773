"""Add and remove fields and list items of a YAML file, every other byte as it was, and prove it."""

from tocsin_contracts import FieldPath, Tree
from tocsin_gitops import adding, removing, trees
from tocsin_gitops.proofs import prove_added, prove_removed
from tocsin_gitops.splice import decode, document_at
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents
from tocsin_gitops.yaml_paths import PathMissing, is_key, path_text, refuse_shared, trail


def insert(data: bytes, document: int, path: FieldPath, value: Tree) -> bytes:
    """Return the file with a field that was not there, in mappings that are made where missing.

    EditRefused if it is there, or if anything about the place makes the outcome a guess.
    """
    mark, text = decode(data)
    before = documents(text)
    way, missing = _as_far_as_there(document_at(before, document), path)
    if not missing:
        raise EditRefused(f"{path_text(path)} is there already; the file moved on")
    if way[-1].kind is not NodeKind.MAPPING or not all(map(is_key, missing)):
        raise EditRefused(f"no mapping of this file could take {path_text(path)} in")
    key, *inner = (str(step) for step in missing)
    for step in reversed(inner):
        value = {step: value}
    refuse_shared(before[document], way, path_text(path))
    after = adding.key(text, way, key, value)
    prove_added(before, documents(after), (document, (*path[: len(way) - 1], key)), value)
    return (mark + after).encode()


def append(data: bytes, document: int, path: FieldPath, old: Tree, value: Tree) -> bytes:
    """Return the file with one more item at the end of a list that holds `old`."""
    mark, text = decode(data)
    before = documents(text)
    way = trail(document_at(before, document), path)
    if way[-1].kind is not NodeKind.SEQUENCE:
        raise EditRefused(f"{path_text(path)} is no list")
    _check_old(way[-1], old, path)
    refuse_shared(before[document], way, path_text(path))
    after = adding.item(text, way, value)
    place = (*path, len(way[-1].children))
    prove_added(before, documents(after), (document, place), value)
    return (mark + after).encode()


def delete(data: bytes, document: int, path: FieldPath, old: Tree) -> bytes:
    """Return the file without a field or list item that holds `old`."""
    mark, text = decode(data)
    before = documents(text)
    way = trail(document_at(before, document), path)
    if not path:
        raise EditRefused("a whole document is never taken away")
    _check_old(way[-1], old, path)
    refuse_shared(before[document], way, path_text(path))
    removing.refuse_needed(way)
    gone = removing.parts(way)
    after = removing.cut(text, way, gone)
    prove_removed(before, documents(after), gone)
    return (mark + after).encode()


def _as_far_as_there(root: Node, path: FieldPath) -> tuple[tuple[Node, ...], FieldPath]:
    """Return the nodes on the way that are there, and the steps after them."""
    for length in range(len(path), 0, -1):
        try:
            return trail(root, path[:length]), path[length:]
        except PathMissing:
            continue
    return (root,), path


def _check_old(target: Node, old: Tree, path: FieldPath) -> None:
    found = trees.read(target)
    if not trees.same(found, old):
        raise EditRefused(f"{path_text(path)} holds {found!r}, not {old!r}; the file moved on")
