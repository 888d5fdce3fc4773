"""Whether one name is a slip of another: the one that was meant, if only one can be."""

from collections.abc import Iterable
from difflib import SequenceMatcher

_ALIKE = 0.8


def meant(written: str, known: Iterable[str]) -> str | None:
    """Return the one known name that the written one is a slip of; None if none or several are."""
    alike = {name for name in known if name != written and _is_slip(written, name)}
    return alike.pop() if len(alike) == 1 else None


def _is_slip(written: str, name: str) -> bool:
    ratio = SequenceMatcher(None, written.lower(), name.lower(), autojunk=False).ratio()
    return ratio >= _ALIKE
