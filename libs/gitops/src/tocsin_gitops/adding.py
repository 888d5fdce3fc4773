"""Find where a new field or list item goes in a YAML text, and put it there."""

from collections.abc import Iterable

from tocsin_contracts import Tree
from tocsin_gitops import yaml_write
from tocsin_gitops.yaml_layout import Habits, column, dash, end, habits, is_block, next_line
from tocsin_gitops.yaml_nodes import Node, NodeKind

Way = tuple[Node, ...]
"""The nodes from the root of a document to the one that is meant."""


def key(text: str, way: Way, name: str, value: Tree) -> str:
    """Return the text with one more field in the mapping at the end of the way."""
    habit, mapping = habits(text, way[0]), way[-1]
    if is_block(mapping):
        lines = yaml_write.entry(name, value, column(text, mapping.children[0].start), habit)
        return _below(text, end(text, mapping), lines, habit)
    if (opened := _opened(text, way)) is not None:
        lines = yaml_write.entry(name, value, opened + habit.step, habit)
        return _instead(text, way, lines, habit)
    quotes = _quotes(mapping)
    pair = f"{yaml_write.word(name, quotes)}: {yaml_write.flow(value, quotes)}"
    return _between(text, mapping, pair)


def item(text: str, way: Way, value: Tree) -> str:
    """Return the text with one more item in the list at the end of the way."""
    habit, items = habits(text, way[0]), way[-1]
    if is_block(items):
        first = items.children[0]
        at = dash(text, first)
        gap = first.start - at - 1
        one_line = "\n" not in text[at : first.start] and gap
        lines = yaml_write.item(value, column(text, at), habit, gap if one_line else 1)
        return _below(text, end(text, items), lines, habit)
    if (opened := _opened(text, way)) is not None:
        lines = yaml_write.item(value, opened + habit.dash, habit)
        return _instead(text, way, lines, habit)
    return _between(text, items, yaml_write.flow(value, _quotes(items)))


def holder(way: Way) -> Node | None:
    """Return the key that holds the last node, if the mapping around it is a block."""
    around = way[-2:-1]
    if not around or around[0].kind is not NodeKind.MAPPING or not is_block(around[0]):
        return None
    return next(name for name, value in around[0].pairs if value is way[-1])


def _opened(text: str, way: Way) -> int | None:
    """The column of the key whose empty brackets can give way to lines of a block."""
    name, brackets = holder(way), way[-1]
    if name is None or brackets.children or brackets.anchor or brackets.tag:
        return None
    beside = text[brackets.end : next_line(text, brackets.end)]
    between = text[name.end : brackets.start]
    alone = not beside.strip() and between.strip() == ":" and "\n" not in between
    return column(text, name.start) if alone else None


def _instead(text: str, way: Way, lines: Iterable[str], habit: Habits) -> str:
    brackets = way[-1]
    start = len(text[: brackets.start].rstrip(" \t"))
    new = "".join(habit.newline + line for line in lines)
    return text[:start] + new + text[brackets.end :]


def _below(text: str, last: int, lines: Iterable[str], habit: Habits) -> str:
    at = next_line(text, last)
    new = habit.newline.join(lines)
    if text[:at].endswith("\n"):
        return text[:at] + new + habit.newline + text[at:]
    return text[:at] + habit.newline + new + text[at:]


def _between(text: str, collection: Node, new: str) -> str:
    if not collection.children:
        at = collection.end - 1
        return text[:at] + new + text[at:]
    at = max(child.end for child in collection.children[-2:])
    return f"{text[:at]}, {new}{text[at:]}"


def _quotes(collection: Node) -> str | None:
    first = collection.children[:1]
    return first[0].style if first and first[0].style in ('"', "'") else None
