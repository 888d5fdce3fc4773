"""Words of others in comments of ours: nothing of them is rendered, linked, or obeyed."""

import textwrap
from collections.abc import Iterator

from tocsin_kit.untrusted import clean, line

_PLAIN = str.maketrans({"`": "'", "<": "\u2039", "@": "\uff20", "[": "(", "]": ")"})
_MOST, _WIDTH = 2000, 100
_FENCE = "```"


def plain(text: str, limit: int) -> str:
    """Return a text on one line, which mentions nobody and holds no markup."""
    return line(text, limit).translate(_PLAIN)


def quoted(text: str) -> str:
    """Return a text as a block that a forge shows as it is.

    Every line of it begins with a bar, so that no program takes one for a command.
    """
    lines = "\n".join(f"| {one}".rstrip() for one in _lines(clean(text, _MOST).text))
    return f"{_FENCE}text\n{lines}\n{_FENCE}"


def _lines(text: str) -> Iterator[str]:
    for one in text.translate(_PLAIN).expandtabs(2).splitlines():
        yield from textwrap.wrap(one, _WIDTH, break_on_hyphens=False) or [""]
