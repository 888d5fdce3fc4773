"""Markers that make a comment once: unseen by people, at its end, and only in our own comments."""

import re
from collections.abc import Iterable

from tocsin_gitops.pulls import Comment
from tocsin_kit.errors import PermanentError

_WHOLE = re.compile(r"[^\s<>]([^\n<>]*[^\s<>])?")


def closing(marker: str) -> str:
    """Return what ends a comment; PermanentError for a marker that would be seen."""
    if not _WHOLE.fullmatch(marker) or "--" in marker:
        raise PermanentError(f"{marker!r} is no marker: it would end the comment that hides it")
    return f"<!-- {marker} -->"


def marked(comments: Iterable[Comment], author: str, marker: str) -> Comment | None:
    """Return the comment of this author that ends with the marker; one that quotes it is none."""
    ends = closing(marker)
    ours = (one for one in comments if one.author == author)
    return next((one for one in ours if one.body.rstrip().endswith(ends)), None)
