"""Texts of messages, made to fit: what is prose, what is code, and what a limit leaves of it."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

FENCE = "```"
MORE = "…"

_MENTION = re.compile(r"(?<![^\W_])@(?=\w)")
_APART = "@\N{ZERO WIDTH SPACE}"
"""Looks like an `@` and calls nobody."""

_BEYOND = 0xFFFF
"""A character above this one is two to whoever counts in UTF-16."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines that belong together; those of code stand as they are."""

    lines: tuple[str, ...]
    code: bool = False


def parts(text: str) -> tuple[Part, ...]:
    """Return the prose and the boxes of a message's text, in order."""
    found: list[Part] = []
    for number, piece in enumerate(re.split(rf"^{FENCE}$\n?", text, flags=re.MULTILINE)):
        kept = piece.removesuffix("\n")
        if kept:
            found.append(Part(tuple(kept.split("\n")), code=number % 2 == 1))
    return tuple(found)


def uncalling(text: str) -> str:
    """Return text that looks the same and mentions nobody."""
    return _MENTION.sub(_APART, text)


def units(text: str) -> int:
    """Return how long a text is to whoever counts in UTF-16: never less than in characters."""
    return len(text) + sum(ord(character) > _BEYOND for character in text)


def cut(pieces: Sequence[str], limit: int) -> str:
    """Join as many pieces as fit into a limit in UTF-16; an ellipsis stands for the others."""
    ends = list(accumulate(units(piece) for piece in pieces))
    if not ends or ends[-1] <= limit:
        return "".join(pieces)
    kept = sum(end <= limit - len(MORE) for end in ends)
    return "".join(pieces[:kept]) + MORE


def fitted(text: str, size: Callable[[str], int], limit: int) -> str:
    """Return as much of a message's text as has at most a size when it is shown.

    Whole lines are left out at the end, and counted; of one line that is too long, its end is.
    """
    if size(text) <= limit:
        return text
    lines = text.split("\n")
    kept = _most(len(lines), lambda n: size(_shortened(lines, n)), limit)
    if kept:
        return _shortened(lines, kept)
    first = lines[0]
    return first[: _most(len(first), lambda n: size(first[:n] + MORE), limit)] + MORE


def _most(count: int, size: Callable[[int], int], limit: int) -> int:
    """The largest number below `count` of which the size is within the limit; else 0."""
    return max(bisect_right(range(count), limit, key=size) - 1, 0)


def _shortened(lines: Sequence[str], kept: int) -> str:
    shown = list(lines[:kept])
    box = [FENCE] if shown.count(FENCE) % 2 else []
    return "\n".join([*shown, *box, f"{MORE} {len(lines) - kept} more lines"])
