"""Text as Slack reads it: nothing that others wrote calls people, links or grows past a limit."""

import re
from itertools import accumulate

from tocsin_kit.untrusted import clean

_MENTION = re.compile(r"(?<![^\W_])@(?=\w)")
_APART = "@\N{ZERO WIDTH SPACE}"
"""Looks like an `@` and calls nobody."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What some take for the end of a line: shown as a mark, so that no line is forged."""

_LINK = re.compile(r"https?://[^\s<>|\"]{1,2000}")
_BEYOND = 0xFFFF
"""Slack counts a character above this one as two."""

MORE = "…"
MOST_READ = 64 * 1024
"""Characters of a text that are looked at, to show a few of them."""


def escaped(text: str, limit: int) -> str:
    """Return text that stands for itself and is at most `limit` long once Slack has it.

    It is cut after it was escaped, and never inside of an entity.
    """
    return cut([_ENTITIES.get(c, c) for c in _MENTION.sub(_APART, text)], limit)


def cut(parts: list[str], limit: int) -> str:
    """Join as many parts as fit into a limit; where one is left out, an ellipsis ends them."""
    ends = list(accumulate(size(part) for part in parts))
    if not ends or ends[-1] <= limit:
        return "".join(parts)
    kept = sum(end <= limit - len(MORE) for end in ends)
    return "".join(parts[:kept]) + MORE


def size(text: str) -> int:
    """Return how long Slack takes a text to be."""
    return len(text) + sum(ord(c) > _BEYOND for c in text)


def plain(text: str, limit: int) -> str:
    """Return text for a place where Slack reads no marks; it is cut to the limit all the same."""
    return cut(list(text), limit)


def link(url: str, words: str) -> str:
    """Return a link, or the escaped address where it is none that a browser could follow."""
    if not _LINK.fullmatch(url):
        return escaped(url, 500)
    return f"<{url.replace('&', '&amp;')}|{words}>"


def fenced(text: str, limit: int) -> str:
    """Return lines in a box that they cannot close; what does not fit is counted."""
    marked = _BREAKS.sub("\u240a", text.replace("\r\n", "\n"))
    seen = clean(marked, MOST_READ).text.replace("```", "'''").rstrip("\n")
    lines = [escaped(line, limit // 4) for line in seen.split("\n")]
    ends = list(accumulate(size(line) + 1 for line in lines))
    room = limit - len("```\n```") - len(f"\n… {len(lines)} more lines")
    kept = sum(end <= room for end in ends)
    more = f"\n… {len(lines) - kept} more lines" if kept < len(lines) else ""
    return "```\n" + "\n".join(lines[:kept]) + "\n```" + more
