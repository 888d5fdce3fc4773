"""Documents that others wrote: a few aliases can stand for a world of text, or for themselves."""

from collections.abc import Collection
from typing import Any

DEEPEST = 60
"""Levels of mappings and lists; objects have a third of it."""

_TIMES = 4
_SMALL = 2000

_Sizes = dict[int, tuple[int, int]]
"""Of each mapping and list: its nodes with every alias written out, and its levels."""


def is_sane(document: Any) -> bool:
    """Whether a document is as deep as objects can be, and not much more than its own text.

    With every alias written out it may be a few times of what is written.
    """
    sizes, around, written = _Sizes(), set[int](), 1
    waiting = [(document, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            around.discard(id(node))
            sizes[id(node)] = _size(_inside(node), sizes)
        elif id(node) in around:
            return False
        elif id(node) not in sizes and (inside := _inside(node)):
            written += len(inside)
            around.add(id(node))
            waiting.append((node, True))
            waiting += [(inner, False) for inner in inside if isinstance(inner, dict | list)]
    size, levels = sizes.get(id(document), (1, 0))
    return levels <= DEEPEST and size <= _TIMES * written + _SMALL


def _inside(node: Any) -> Collection[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _size(inside: Collection[Any], sizes: _Sizes) -> tuple[int, int]:
    found = [sizes.get(id(inner), (1, 0)) for inner in inside]
    return 1 + sum(size for size, _ in found), 1 + max(levels for _, levels in found)
