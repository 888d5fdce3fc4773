"""What a tool may be called: `server.tool`, so that no two servers are mistaken for each other."""

import re

from tocsin_kit.errors import PermanentError

_NAME = re.compile(r"[a-z0-9_-]+\.[a-z0-9_-]+")


def is_name(name: str) -> bool:
    """Whether it is a `server.tool` of small letters, digits, underscores and hyphens."""
    return _NAME.fullmatch(name) is not None


def checked(name: str) -> str:
    """Return the name; PermanentError if no tool may be called so."""
    if not is_name(name):
        raise PermanentError(
            f"no tool may be called {name!r}: write server.tool in small letters, digits, _ and -"
        )
    return name
