"""Replace one scalar in a YAML file and nothing else, and prove it before handing it back."""

from tocsin_contracts import FieldPath, Scalar
from tocsin_gitops import blocks
from tocsin_gitops.scalars import meaning, same, write
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents, walk
from tocsin_gitops.yaml_paths import path_text, refuse_shared, trail

_BOM = "\ufeff"


def decode(data: bytes) -> tuple[str, str]:
    """Return the byte order mark, if any, and the text after it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(f"the file is not UTF-8: {error}") from error
    body = text.removeprefix(_BOM)
    return text[: len(text) - len(body)], body


def document_at(roots: tuple[Node, ...], index: int) -> Node:
    """Return the root of one document."""
    if not 0 <= index < len(roots):
        raise EditRefused(f"the file has {len(roots)} documents, none with index {index}")
    return roots[index]


def set_scalar(data: bytes, document: int, path: FieldPath, old: Scalar, new: Scalar) -> bytes:
    """Return the file with one scalar of one document replaced, every other byte as it was.

    Raises EditRefused when the field does not hold `old`, or when anything about the place makes
    the outcome a guess: aliases, used anchors, merge keys, tags, folded blocks, templates.
    """
    mark, text = decode(data)
    before = documents(text)
    way = trail(document_at(before, document), path)
    target = way[-1]
    _check_place(before[document], way, path_text(path))
    _check_old(meaning(target), old, new, path_text(path))
    written = _written(text[target.start : target.end], target, new)
    edited = text[: target.start] + written + text[target.end :]
    _prove(before, documents(edited), target, new)
    return (mark + edited).encode()


def _check_place(root: Node, way: tuple[Node, ...], where: str) -> None:
    refuse_shared(root, way, where)
    target = way[-1]
    if target.style == ">":
        raise EditRefused(f"{where} is a folded block scalar")
    if target.start == target.end and target.kind is NodeKind.SCALAR:
        raise EditRefused(f"{where} is empty")
    if "{{" in target.value or "${" in target.value:
        raise EditRefused(f"{where} is filled in by a template")


def _written(token: str, target: Node, new: Scalar) -> str:
    if target.style != "|":
        return write(new, target.style)
    if not isinstance(new, str):
        raise EditRefused(f"a block scalar holds text, not {new!r}")
    return blocks.rewritten(token, new)


def _check_old(found: Scalar, old: Scalar, new: Scalar, where: str) -> None:
    if not same(found, old):
        raise EditRefused(f"{where} holds {found!r}, not {old!r}; the file moved on")
    if same(found, new):
        raise EditRefused(f"{where} holds {new!r} already")


def _prove(before: tuple[Node, ...], after: tuple[Node, ...], target: Node, new: Scalar) -> None:
    """Put the old value back in thought: then both trees must be equal, document by document."""
    if len(before) != len(after):
        raise EditRefused("the edit would change how many documents the file has")
    pairs = zip(
        (node for root in before for node in walk(root)),
        (node for root in after for node in walk(root)),
        strict=False,
    )
    for old_node, new_node in pairs:
        if old_node is target:
            _check_written(old_node, new_node, new)
        elif _shape(old_node) != _shape(new_node):
            raise EditRefused("the edit would change more than its field")


def _check_written(old_node: Node, new_node: Node, new: Scalar) -> None:
    one_scalar = new_node.kind is NodeKind.SCALAR and new_node.anchor == old_node.anchor
    if not one_scalar or not same(meaning(new_node), new):
        raise EditRefused(f"the file would not read back as {new!r}")


def _shape(node: Node) -> tuple[object, ...]:
    """Child counts on every node, parents first, fix the whole tree."""
    return (node.kind, node.anchor, node.tag, node.value, node.style, len(node.children))
