"""Whole numbers in texts that others wrote: digits alone, and not too many of them."""

import re

_WHOLE = re.compile(r"[0-9]{1,15}")


def whole(text: str | None) -> int | None:
    """Return the number that a text is; None if it is something else."""
    return int(text) if text and _WHOLE.fullmatch(text) else None


def leading(text: str) -> int | None:
    """Return the number that a text begins with; None if it begins otherwise."""
    found = _WHOLE.match(text)
    return int(found[0]) if found else None
