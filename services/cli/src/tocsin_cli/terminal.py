"""Write to the terminal; text that came from outside can never steer it."""

from rich.console import Console
from rich.text import Text


def plain(text: str) -> str:
    """Return the text with all that is not visible, tabs too, written out as escapes.

    Nothing is dropped: what a person approves must not hide anything. Line ends stay.
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def show(console: Console, *parts: Text | str) -> None:
    """Print every line whole, however narrow the terminal is: a diff must not be cut or reflown."""
    for part in parts:
        console.print(part, soft_wrap=True, markup=False, highlight=False)
