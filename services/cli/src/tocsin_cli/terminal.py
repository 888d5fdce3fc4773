"""Write to the terminal; text that came from outside can never steer it, nor pass for ours."""

import re
from collections.abc import Iterable, Iterator, Sequence

import typer
from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tocsin_kit.untrusted import line

LONGEST = 1000
"""Characters of a text that stands on one line."""

_HANG = 2


def plain(text: str) -> str:
    """Return the text with all that is not visible, tabs too, written out as escapes.

    Nothing is dropped: what a person approves must not hide anything. Line ends stay.
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def one_line(text: str) -> str:
    """Return the text on one line, so that it cannot forge a row or a section of ours."""
    return plain(line(text, LONGEST))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines whose columns stand below each other."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]


def show(console: Console, *parts: Text | str) -> None:
    """Print strings and `no_wrap` texts as they are: no diff, command or table is cut or reflown.

    The lines of other texts are broken between words on a terminal that is too narrow for them,
    and what follows a break is indented.
    """
    for part in parts:
        for piece in _laid_out(console, part):
            console.print(piece, soft_wrap=True, markup=False, highlight=False)


def _laid_out(console: Console, part: Text | str) -> Iterable[Text | str]:
    if isinstance(part, str) or part.no_wrap or not console.is_terminal:
        return [part]
    lines = part.split("\n", allow_blank=True)
    return [piece for text in lines for piece in _hung(text, console.width)]


def _hung(text: Text, width: int) -> Iterator[Text]:
    said = text.plain
    hang = len(said) - len(said.lstrip(" ")) + _HANG
    first, *others = text.divide(_breaks(said, width, hang))
    for piece in (first, *(Text(" " * hang).append_text(other) for other in others)):
        piece.rstrip()
        yield piece


def _breaks(said: str, width: int, hang: int) -> Iterator[int]:
    """Yield where the words start that no longer fit; a word that never would is left whole."""
    start, room = 0, width
    for word in re.finditer(r"\S+", said):
        before = said[start : word.start()]
        if before.strip() and cell_len(said[start : word.end()]) > room:
            start, room = word.start(), width - hang
            yield start


def answer(view: BaseModel, *lines: str, as_json: bool) -> None:
    """Print what the gateway answered: as JSON for other programs, or as lines for people."""
    if as_json:
        typer.echo(view.model_dump_json(indent=2))
    else:
        show(Console(), *lines)
