"""Find what of a YAML text a field or list item takes up, and cut it out."""

from dataclasses import dataclass

from tocsin_gitops.adding import Way, holder
from tocsin_gitops.yaml_layout import dash, end, is_block, line_start, next_line
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, walk


@dataclass(frozen=True, slots=True)
class Parts:
    """The nodes that go, a key and its value or one item, among what their collection holds."""

    nodes: tuple[Node, ...]
    before: tuple[Node, ...]
    after: tuple[Node, ...]

    @property
    def alone(self) -> bool:
        """Whether the collection is empty afterwards."""
        return not self.before and not self.after


def parts(way: Way) -> Parts:
    """Return the parts of the last node of a way, which is not the root."""
    children, mapping = way[-2].children, way[-2].kind is NodeKind.MAPPING
    stop = children.index(way[-1]) + 1
    start = stop - 2 if mapping else stop - 1
    return Parts(children[start:stop], children[:start], children[stop:])


def refuse_needed(way: Way) -> None:
    """Refuse to take away what other places use, or what would come back from elsewhere."""
    if any(node.anchor for node in walk(way[-1])):
        raise EditRefused("what is to be taken away has an anchor, which other places may use")
    if way[-2].kind is NodeKind.MAPPING and any(key.value == "<<" for key, _ in way[-2].pairs):
        raise EditRefused("a merge key beside it may bring in another value for it")


def cut(text: str, way: Way, gone: Parts) -> str:
    """Return the text without the parts; an emptied collection is written as brackets."""
    if not is_block(way[-2]):
        return _cut_between(text, gone)
    begin = gone.nodes[0].start
    if way[-2].kind is NodeKind.SEQUENCE:
        begin = dash(text, gone.nodes[0])
    stop = next_line(text, max(end(text, node) for node in gone.nodes))
    first = line_start(text, begin)
    own_line = not text[first:begin].strip(" ")
    if gone.alone:
        return _emptied(text, way[:-1], first if own_line else None, stop)
    if own_line:
        return _without(text, first, stop)
    if not gone.after or way[-2].kind is NodeKind.SEQUENCE or "#" in text[begin:stop]:
        raise EditRefused("it shares its line with something that stays")
    return _joined(text, begin, stop, gone.after[0].start)


def _cut_between(text: str, gone: Parts) -> str:
    start, stop = gone.nodes[0].start, max(node.end for node in gone.nodes)
    if gone.after:
        stop = gone.after[0].start
    elif gone.before:
        start = max(node.end for node in gone.before[-2:])
    return text[:start] + text[stop:]


def _joined(text: str, begin: int, stop: int, following: int) -> str:
    """The next field takes the place of the first one of a list item."""
    if text[stop:following].strip(" "):
        raise EditRefused("a comment stands between it and the next field")
    return text[:begin] + text[following:]


def _emptied(text: str, way: Way, first: int | None, stop: int) -> str:
    name, collection = holder(way), way[-1]
    if name is None or first is None:
        raise EditRefused("nothing would be left of a list or mapping that no key holds")
    colon = text.find(":", name.end) + 1
    brackets = " []" if collection.kind is NodeKind.SEQUENCE else " {}"
    return _without(text[:colon] + brackets + text[colon:], first + len(brackets), stop + 3)


def _without(text: str, first: int, stop: int) -> str:
    kept = text[:first]
    if stop == len(text) and not text.endswith("\n"):
        kept = kept.removesuffix("\n").removesuffix("\r")
    return kept + text[stop:]
