"""Markdown in which text of others is only text: no markup, no link, and nobody is called."""

import re

from tocsin_kit.untrusted import clean, line

LONGEST = 1000
LONGEST_BLOCK = 20_000
_MARKS = re.compile(r"([\\`*_\[\]|~!$])")
_START = re.compile(r"^(\d{0,9})([.)#+\-=])")
_CALLS = re.compile(r"([@#])(?=\w)")
_LINKS = re.compile(r"(?i)(https?|ftp|mailto|xmpp)(?=:)|\b(www)(?=\.)")
_NOTHING = "\u200b"
"""A space without a width: it takes the meaning of what it parts, and shows nothing."""


def words(text: str, limit: int = LONGEST) -> str:
    """Return text of others on one line, fit to stand among our own."""
    said = line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    said = _LINKS.sub(lambda found: f"{found[0]}{_NOTHING}", _MARKS.sub(r"\\\1", said))
    said = _CALLS.sub(rf"\1{_NOTHING}", said)
    return _START.sub(r"\1\\\2", said)


def code(text: str) -> str:
    """Return a short text of others as code."""
    said = line(text, LONGEST).replace("`", "'")
    return f"`{said}`" if said else "-"


def block(text: str, kind: str = "text", limit: int = LONGEST_BLOCK) -> str:
    """Return text of others as lines of code, behind a fence that it cannot close."""
    said = clean(text, limit).text.rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", said)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{said}\n{fence}"


def link(address: str) -> str:
    """Return an address as a link if it is one for browsers, else as code."""
    safe = re.fullmatch(r"https?://[^\s<>\x00-\x20]+", address)
    return f"<{address}>" if safe else code(address)
