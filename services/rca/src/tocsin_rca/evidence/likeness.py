"""Whether one name is a slip of another: the one that was meant, if only one can be."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

_ALIKE = 0.8
_BETWEEN = re.compile(r"[-._]")
_SHORTEST = 4


def meant(written: str, known: Iterable[str]) -> str | None:
    """Return the one known name that the written one is a slip of; None if none or several are."""
    others = {name for name in known if name != written}
    alike = {name for name in others if _is_slip(written, name)}
    if not alike:
        alike = {name for name in others if _is_short_for(written, name)}
    return alike.pop() if len(alike) == 1 else None


def _is_slip(written: str, name: str) -> bool:
    ratio = SequenceMatcher(None, written.lower(), name.lower(), autojunk=False).ratio()
    return ratio >= _ALIKE


def _is_short_for(written: str, name: str) -> bool:
    """Whether they have the same words, some of them cut short in one of the two."""
    mine, others = (_BETWEEN.split(one.lower()) for one in (written, name))
    pairs = [sorted(pair, key=len) for pair in zip(mine, others, strict=False)]
    return len(mine) == len(others) and all(
        short == long or (len(short) >= _SHORTEST and long.startswith(short))
        for short, long in pairs
    )
