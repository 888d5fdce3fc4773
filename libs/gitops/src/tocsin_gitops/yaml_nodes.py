"""Read YAML as nodes that remember where in the text they stand, so that edits can be surgical."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import yaml

from tocsin_kit.errors import PermanentError

MAX_DEPTH = 64
_UNCLEAR_BREAKS = re.compile("[\u0085\u2028\u2029\ufeff]")


class EditRefused(PermanentError):  # noqa: N818 - a refusal is an answer, not a fault
    """The edit cannot be made safely; the message is a sentence for a person."""


class NodeKind(StrEnum):
    """What YAML knows."""

    SCALAR = "scalar"
    SEQUENCE = "sequence"
    MAPPING = "mapping"
    ALIAS = "alias"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node; `start` and `end` are character offsets, for a scalar those of its very token.

    A collection in flow style ends after its bracket; one in block style ends where it starts,
    as no character closes it. `value` is a scalar's text or an alias's anchor; children are items,
    or keys and values in turn.
    """

    kind: NodeKind
    start: int
    end: int
    value: str = ""
    style: str | None = None
    anchor: str | None = None
    tag: str | None = None
    children: tuple["Node", ...] = ()

    @property
    def pairs(self) -> Iterator[tuple["Node", "Node"]]:
        """The keys of a mapping with their values."""
        return zip(self.children[::2], self.children[1::2], strict=True)


def documents(text: str) -> tuple[Node, ...]:
    """Return the root of every document; what YAML readers may disagree about is refused."""
    if _UNCLEAR_BREAKS.search(text):
        raise EditRefused("the file holds a character that YAML 1.1 and 1.2 read differently")
    try:
        return tuple(_Builder(text).documents())
    except yaml.YAMLError as error:
        problem = re.sub(r"\s+", " ", str(error)).strip()
        raise EditRefused(f"the file is not plain YAML: {problem}") from error


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and everything below it, parents first."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


class _Builder:
    """Turns the parser's events into nodes, and refuses what an edit could get wrong."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._events = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._starts: dict[int, int] | None = None

    def documents(self) -> Iterator[Node]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                yield self._node(next(self._events), 0)

    def _node(self, event: yaml.Event, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise EditRefused(f"the file nests deeper than {MAX_DEPTH} levels")
        start, end = _offset(event.start_mark), _offset(event.end_mark)
        if isinstance(event, yaml.ScalarEvent):
            start = self._token_start(end) if event.anchor or event.tag else start
            anchor, tag, style = event.anchor, event.tag, event.style or None
            return Node(NodeKind.SCALAR, start, end, event.value, style, anchor, tag)
        if isinstance(event, yaml.CollectionStartEvent):
            return self._collection(event, depth)
        if isinstance(event, yaml.AliasEvent):
            return Node(NodeKind.ALIAS, start, end, event.anchor or "")
        raise EditRefused(f"the file holds something unknown: {event!r}")

    def _collection(self, event: yaml.CollectionStartEvent, depth: int) -> Node:
        below = list[Node]()
        while not isinstance(last := next(self._events), yaml.CollectionEndEvent):
            below.append(self._node(last, depth + 1))
        children = tuple(below)
        mapping = isinstance(event, yaml.MappingStartEvent)
        if mapping:
            _refuse_unclear_keys(children[::2])
        kind = NodeKind.MAPPING if mapping else NodeKind.SEQUENCE
        start = _offset(event.start_mark)
        style, end = ("flow", _offset(last.end_mark)) if event.flow_style else (None, start)
        return Node(kind, start, end, "", style, event.anchor, event.tag, children)

    def _token_start(self, end: int) -> int:
        """An event begins at its &anchor or !tag; only the token says where the value does."""
        if self._starts is None:
            tokens = yaml.scan(self._text, Loader=yaml.CSafeLoader)
            scalars = (token for token in tokens if isinstance(token, yaml.ScalarToken))
            self._starts = {_offset(t.end_mark): _offset(t.start_mark) for t in scalars}
        return self._starts.get(end, end)


def _offset(mark: object) -> int:
    index = getattr(mark, "index", None)
    if not isinstance(index, int):
        raise EditRefused("the YAML parser does not say where it is")
    return index


def _refuse_unclear_keys(keys: tuple[Node, ...]) -> None:
    seen = set[str]()
    for key in keys:
        if key.kind is not NodeKind.SCALAR:
            raise EditRefused("a mapping key is not a plain word; is the file a template?")
        if key.value in seen:
            raise EditRefused(f"the key {key.value!r} stands twice in one mapping")
        seen.add(key.value)
