"""Write to the terminal; text that came from outside can never steer it."""

import unicodedata

from rich.console import Console
from rich.text import Text

_KEPT = "\n\t"
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def plain(text: str) -> str:
    """Return the text with control and invisible characters written out as escapes.

    Nothing is dropped: what a person approves must not hide anything.
    """
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in text)


def show(console: Console, *parts: Text | str) -> None:
    """Print every line whole, however narrow the terminal is: a diff must not be cut or reflown."""
    for part in parts:
        console.print(part, soft_wrap=True, markup=False, highlight=False)


def _is_harmless(character: str) -> bool:
    return character in _KEPT or unicodedata.category(character) not in _UNSAFE
