"""Text that others wrote, made fit to be read: nothing invisible, and never too long."""

import re
import unicodedata
from dataclasses import dataclass

MARK = "\n[… cut …]\n"

_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences, such as colours
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # strings for the terminal, such as titles and links
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL | re.MULTILINE,
)
_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_KEPT = "\n\t"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is left of a text, and whether its middle was cut out."""

    text: str
    truncated: bool


def clean(text: str, limit: int) -> Cleaned:
    """Drop what a person cannot see and keep at most `limit` characters: the head and the tail.

    Terminal sequences, control, direction and zero-width characters go; words stay as they are,
    secrets too. Cleaning twice changes nothing.
    """
    if not _is_plain(text):
        text = _LINE_ENDS.sub("\n", _ANSI.sub("", text))
        text = "".join(c for c in _INVISIBLE.sub("", text) if _is_visible(c))
    if len(text) <= limit:
        return Cleaned(text, truncated=False)
    room = limit - len(MARK)
    if room <= 0:
        return Cleaned(text[:limit], truncated=True)
    tail = room // 2
    return Cleaned(text[: room - tail] + MARK + text[len(text) - tail :], truncated=True)


def line(text: str, limit: int = 120) -> str:
    """Return the text on one line, fit to stand among our own words; its line breaks are spaces."""
    return " ".join(clean(text, limit * 2).text.replace(MARK, " … ").split())[:limit]


def _is_plain(text: str) -> bool:
    """Whether nothing has to go: one look at all of a text, for most are."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def _is_visible(character: str) -> bool:
    return character in _KEPT or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
