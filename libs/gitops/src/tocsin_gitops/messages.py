"""The message of a commit and its trailers, both out of the body that people approved; pure."""

import re
from collections.abc import Mapping

_TRAILERS = re.compile(r"(?:^Tocsin-[A-Z][a-z]+: .+\n?)+\n*\Z", re.MULTILINE)
_HEADING = re.compile(r"^## .*\n+", re.MULTILINE)


def trailers(body: str) -> str:
    """Return the lines that a body ends with as git reads trailers; empty if there are none."""
    found = _TRAILERS.search(body)
    return found.group() if found else ""


def paragraph(values: Mapping[str, str]) -> str:
    """Return trailers, a line each; values have to be of one line, and not empty."""
    return "\n".join(f"Tocsin-{name}: {value}" for name, value in values.items())


def commit(title: str, body: str) -> str:
    """Return the title, the first section of the body and its trailers.

    What else the body says is for the pull request: a diff in a message would end it for git.
    """
    last = trailers(body)
    said = body.removesuffix(last)
    first = next((part for part in _HEADING.split(said) if part.strip()), "")
    parts = (title, first.strip(), last.strip())
    return "\n\n".join(part for part in parts if part) + "\n"
