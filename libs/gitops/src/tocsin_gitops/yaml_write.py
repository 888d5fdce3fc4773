"""Write plain values as YAML: as lines of a block, or on one line."""

from collections.abc import Iterator

from tocsin_contracts import Tree
from tocsin_gitops.scalars import write
from tocsin_gitops.yaml_layout import Habits
from tocsin_gitops.yaml_nodes import EditRefused

_TEMPLATES = ("{{", "${")


def entry(key: str, value: Tree, column: int, habits: Habits) -> Iterator[str]:
    """Yield the lines of one field of a mapping, without line ends."""
    head = " " * column + word(key) + ":"
    if isinstance(value, dict) and value:
        yield head
        for name, inner in value.items():
            yield from entry(name, inner, column + habits.step, habits)
    elif isinstance(value, list) and value:
        yield head
        for one in value:
            yield from item(one, column + habits.dash, habits)
    elif isinstance(value, str) and "\n" in value:
        yield from _block(head, value, column + habits.step)
    else:
        yield f"{head} {flow(value)}"


def item(value: Tree, column: int, habits: Habits, gap: int = 1) -> Iterator[str]:
    """Yield the lines of one item of a list; the gap is what stands between dash and item."""
    head = " " * column + "-" + " " * gap
    if isinstance(value, dict) and value:
        lines = [
            line for key, inner in value.items() for line in entry(key, inner, len(head), habits)
        ]
        yield head + lines[0][len(head) :]
        yield from lines[1:]
    else:
        yield head + flow(value)


def flow(value: Tree, quotes: str | None = None) -> str:
    """Return a value on one line; the quotes are those that words in its place have."""
    if isinstance(value, dict):
        pairs = (f"{word(key, quotes)}: {flow(inner, quotes)}" for key, inner in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(one, quotes) for one in value) + "]"
    if isinstance(value, str) and any(mark in value for mark in _TEMPLATES):
        raise EditRefused(f"{value!r} would be filled in by a template")
    return write(value, quotes)


def _block(head: str, text: str, column: int) -> Iterator[str]:
    """Yield text of several lines as a literal block; EditRefused for what one cannot show."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    good = all(line.isprintable() and line == line.rstrip() for line in lines)
    if not good or not lines[-1] or lines[0][:1] in ("", " "):
        raise EditRefused(f"{text!r} holds what a block scalar cannot show")
    if any(mark in text for mark in _TEMPLATES):
        raise EditRefused(f"{text!r} would be filled in by a template")
    yield f"{head} {'|-' if body == text else '|'}"
    yield from (" " * column + line if line else "" for line in lines)


def word(key: str, quotes: str | None = None) -> str:
    """Return a key of a mapping."""
    if not key or key == "<<" or any(mark in key for mark in _TEMPLATES):
        raise EditRefused(f"{key!r} is no name of a field")
    return write(key, quotes)
