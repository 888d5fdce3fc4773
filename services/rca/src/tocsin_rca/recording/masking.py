"""Takes secrets out of what is recorded; what it is about stays as it was."""

import re
from typing import Any

from tocsin_kit.errors import PermanentError
from tocsin_kit.redaction import MASK, Redactor

MOST_LETTERS = 4 * 1024 * 1024
"""Of one recording, so that to mask it takes no more than a second."""

_NAMES = re.compile(r"(?i)passw|secret|token|api_?key|credential|private_?key")
_SHORT = 6
"""Texts of fewer letters hide nothing that the redactor knows."""


class Masking:
    """Masks texts by what they hold, and the values of environment variables by their names."""

    def __init__(self) -> None:
        self._redactor = Redactor()
        self._known: dict[str, str] = {}
        self._left = MOST_LETTERS

    def masked(self, data: Any) -> Any:
        """Return the data of a JSON document without secrets; PermanentError if it is too much."""
        if isinstance(data, str):
            return self._text(data)
        if isinstance(data, list):
            return [self.masked(one) for one in data]
        if isinstance(data, dict):
            return self._members(data)
        return data

    def _members(self, data: dict[str, Any]) -> dict[str, Any]:
        found = {key: self.masked(value) for key, value in data.items()}
        if isinstance(data.get("value"), str) and _NAMES.search(str(data.get("name"))):
            found["value"] = MASK
        return found

    def _text(self, text: str) -> str:
        self._left -= len(text)
        if self._left < 0:
            raise PermanentError(f"what was seen is over {MOST_LETTERS} letters")
        if len(text) < _SHORT:
            return text
        if text not in self._known:
            self._known[text] = self._redactor.text(text)
        return self._known[text]
