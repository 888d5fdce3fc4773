"""Whether a file of a repository holds a Secret: then nobody is shown any of it."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

_SAID = re.compile(r"(?i)\bkind\W{1,20}secret(?:list)?\b|\bsecretGenerator\b|\bstringData\b")
_VALUES = frozenset({"data", "stringData", "items"})


def holds_secret(data: bytes) -> bool:
    """Whether a file declares a Secret with values, or makes one; a mere reference to one is none.

    What cannot be read as YAML, such as a template, is judged by its text alone.
    """
    try:
        documents = list(yaml.load_all(data, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return bool(_SAID.search(data.decode(errors="replace")))
    return any(map(_is_secret, _nodes(documents)))


def _nodes(root: Any) -> Iterator[Any]:
    """Yield everything in a document once, however often it is referred to."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _is_secret(node: Any) -> bool:
    if isinstance(node, str):
        return bool(_SAID.search(node))
    if not isinstance(node, dict):
        return False
    kind = str(node.get("kind")).casefold()
    declared = kind in ("secret", "secretlist") and not _VALUES.isdisjoint(node)
    return declared or "secretGenerator" in node
