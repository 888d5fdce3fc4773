"""Regular expressions that no text can make slow: labels are written by whoever raises an alert.

Alertmanager's own are RE2, so what is read from it means the same here.
"""

from functools import lru_cache

import re2

MOST_MEMORY = 1024 * 1024
"""Bytes that one expression may take."""

_OPTIONS = re2.Options()
_OPTIONS.max_mem = MOST_MEMORY
_OPTIONS.log_errors = False


class Expression:
    """An expression that has to fit a whole text, in time that grows as the text does."""

    def __init__(self, written: str) -> None:
        self._compiled = re2.compile(written, _OPTIONS)

    def fits(self, text: str) -> bool:
        """Return whether the whole text is as the expression says."""
        return self._compiled.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def expression(written: str) -> Expression:
    """Return the expression; ValueError says what is wrong with it."""
    try:
        return Expression(written)
    except re2.error as error:
        why = error.args[0]
        said = why.decode() if isinstance(why, bytes) else str(why)
        raise ValueError(f"no expression: {written[:80]!r}: {said[:200]}") from None
