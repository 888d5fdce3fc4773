"""Small JSON values: what an edit adds or takes away where that is more than a scalar."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, JsonValue

MAX_NODES = 256
MAX_DEPTH = 8
MAX_TEXT = 4096


def is_small(tree: JsonValue) -> bool:
    """Whether a value is no more than a small part of a manifest: a change stays readable."""
    text = 0
    for nodes, (value, depth) in enumerate(_walk(tree), start=1):
        text += len(value) if isinstance(value, str) else 0
        if depth > MAX_DEPTH or nodes > MAX_NODES or text > MAX_TEXT:
            return False
    return True


def _small(tree: JsonValue) -> JsonValue:
    if not is_small(tree):
        raise ValueError(
            f"more than {MAX_NODES} values, {MAX_DEPTH} levels or {MAX_TEXT} characters"
        )
    return tree


def _walk(tree: JsonValue) -> Iterator[tuple[JsonValue, int]]:
    """Yield every value and key with its depth, lazily: the first one too many ends it."""
    waiting: list[tuple[JsonValue, int]] = [(tree, 0)]
    while waiting:
        value, depth = waiting.pop()
        yield value, depth
        if isinstance(value, dict):
            waiting += [(part, depth + 1) for pair in value.items() for part in pair]
        elif isinstance(value, list):
            waiting += [(item, depth + 1) for item in value]


Tree = Annotated[JsonValue, AfterValidator(_small)]
"""A scalar, list or mapping of at most 256 values, 8 levels and 4096 characters."""
