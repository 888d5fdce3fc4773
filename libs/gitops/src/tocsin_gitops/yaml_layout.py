"""Where things stand in a YAML text, and the habits that new lines of it have to follow."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, walk


@dataclass(frozen=True, slots=True)
class Habits:
    """How a document indents: a mapping below its key, and the dashes of a list below its key."""

    step: int
    dash: int
    newline: str


def habits(text: str, root: Node) -> Habits:
    """Return what most places of a document do."""
    steps, dashes = Counter[int](), Counter[int]()
    for kind, columns in _indents(text, root):
        (steps if kind is NodeKind.MAPPING else dashes)[columns] += 1
    step = steps.most_common(1)[0][0] if steps else 2
    dash = dashes.most_common(1)[0][0] if dashes else 0
    return Habits(step, dash, "\r\n" if "\r\n" in text else "\n")


def column(text: str, offset: int) -> int:
    """Return how many characters stand before an offset on its line."""
    return offset - line_start(text, offset)


def line_start(text: str, offset: int) -> int:
    """Return where the line of an offset begins."""
    return text.rfind("\n", 0, offset) + 1


def next_line(text: str, offset: int) -> int:
    """Return where the line after that of an offset begins; the end of the text if none does."""
    found = text.find("\n", offset)
    return len(text) if found < 0 else found + 1


def end(text: str, node: Node) -> int:
    """Return where the last character of a node's content ends, comments and blanks aside."""
    if is_block(node):
        return max(end(text, child) for child in node.children[-2:])
    if node.style in ("|", ">"):
        return node.start + len(text[node.start : node.end].rstrip())
    return node.end


def is_block(node: Node) -> bool:
    """Whether a node is a list or mapping that no bracket closes."""
    return node.kind in (NodeKind.SEQUENCE, NodeKind.MAPPING) and node.style != "flow"


def dash(text: str, item: Node) -> int:
    """Return where the dash of an item of a block list stands."""
    found = text.rfind("-", 0, item.start)
    if found < 0 or text[found + 1 : item.start].strip():
        raise EditRefused("something stands between a list item and its dash")
    return found


def _indents(text: str, root: Node) -> Iterator[tuple[NodeKind, int]]:
    for node in walk(root):
        if node.kind is not NodeKind.MAPPING or not is_block(node):
            continue
        for key, value in node.pairs:
            if is_block(value):
                first = value.children[0]
                at = dash(text, first) if value.kind is NodeKind.SEQUENCE else first.start
                yield value.kind, column(text, at) - column(text, key.start)
