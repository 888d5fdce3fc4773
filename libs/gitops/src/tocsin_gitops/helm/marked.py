"""Values that know where they come from, and texts that carry such values to their places."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tocsin_contracts import FieldPath
from tocsin_gitops.helm.syntax import Unreadable

_TOKEN = re.compile("\ue000(\\d+)\ue001")
_MARK_LINE = re.compile('[ -]*"?\ue002\\d+\ue003"?(?:: 0)?\n?')
_MARK = re.compile("\ue002(\\d+)\ue003")
_SIGNS = "\ue000\ue001\ue002\ue003"
_LARGEST = 999_999
_SMALLEST = 1e-4
"""Helm writes numbers beyond these with an exponent."""


def refuse_marks(text: str) -> None:
    """Refuse what holds the signs that marks are made of: nobody else may set one."""
    if any(sign in text for sign in _SIGNS):
        raise Unreadable("it holds characters that have no meaning outside of this program")


@dataclass(frozen=True, slots=True)
class Hidden:
    """What nobody can tell here; equal to another one if it is made of the same."""

    text: str

    def __str__(self) -> str:
        """Say what it is made of."""
        return f"<{self.text}>"


@dataclass(frozen=True, slots=True)
class Val:
    """A value, and the path of the one value of the chart that decides it, if just one does.

    Values in a mapping or list may be such values themselves. `quotes` are written around it.
    """

    data: Any
    origin: FieldPath | None = None
    quotes: str = ""

    @property
    def holds(self) -> bool:
        """Whether a template takes it for true; Unreadable where that cannot be told."""
        if isinstance(self.data, Hidden):
            raise Unreadable(f"it depends on {self.data}, which nobody can tell here")
        return bool(self.data)

    def child(self, key: str | int) -> "Val":
        """Return what lies below; nothing at all for a key that a mapping lacks."""
        data = self.data
        if isinstance(data, Hidden):
            return Val(Hidden(f"{key} of {data.text}"))
        if isinstance(data, list) and isinstance(key, int) and -1 < key < len(data):
            found = data[key]
        elif isinstance(data, Mapping):
            found = data.get(key)
        else:
            raise Unreadable(f"the template looks for {key!r} where there is no mapping")
        if isinstance(found, Val):
            return found
        return Val(found, None if self.origin is None else (*self.origin, key))

    def children(self) -> Iterator[tuple[str | int, "Val"]]:
        """Yield the items of a list, or the fields of a mapping by name."""
        keys = sorted(self.data) if isinstance(self.data, Mapping) else range(len(self.data))
        for key in keys:
            yield key, self.child(key)


class Ledger:
    """The marks that stand in a text for values, and for collections whose origin is known."""

    def __init__(self) -> None:
        self._values: list[Val] = []

    def put(self, value: Val) -> str:
        """Return the text of a value: a mark where it has an origin, or is hidden."""
        if self.is_marked(value):
            return f"{value.quotes}{value.data}{value.quotes}"
        known = value.origin is not None or isinstance(value.data, Hidden)
        return f"{value.quotes}{self._mark(value)}{value.quotes}" if known else said(value)

    def is_marked(self, value: Val) -> bool:
        """Whether a value is a text with marks in it, that no quotes would have to be told from."""
        data = value.data
        return isinstance(data, str) and bool(_TOKEN.search(data)) and not {*data} & {*"\"'\\\n"}

    def tree(self, value: Val) -> str:
        """Return a mapping or list in one mark, as for JSON."""
        return self._mark(value)

    def end_of(self, value: Val) -> str:
        """Return the name by which a collection is remembered."""
        self._values.append(value)
        return f"\ue002{len(self._values) - 1}\ue003"

    def parts(self, text: str) -> list[str | Val]:
        """Return a text as plain pieces and the values between them."""
        pieces = _TOKEN.split(text)
        return [self._values[int(p)] if n % 2 else p for n, p in enumerate(pieces) if n % 2 or p]

    def marked(self, text: str) -> Val | None:
        """Return the collection that a name of a mark stands for."""
        found = _MARK.fullmatch(text)
        return self._values[int(found[1])] if found else None

    def plain(self, text: str) -> str:
        """Return a text as it would be, without marks."""
        parts = self.parts(self.unmarked(text))
        return "".join(one if isinstance(one, str) else _plain(one) for one in parts)

    def unmarked(self, text: str) -> str:
        """Return a text without the names of collections."""
        return _MARK_LINE.sub("", text)

    def opened(self, value: Val) -> Val:
        """Return a value without marks; a text that is nothing but one is what that stands for."""
        if not isinstance(value.data, str) or not (
            _TOKEN.search(value.data) or _MARK.search(value.data)
        ):
            return value
        pieces = self.parts(value.data.strip())
        if len(pieces) == 1 and isinstance(pieces[0], Val):
            return pieces[0]
        return Val(self.plain(value.data), None, value.quotes)

    def _mark(self, value: Val) -> str:
        self._values.append(value)
        return f"\ue000{len(self._values) - 1}\ue001"


def bare(data: Any) -> Any:
    """Return data without what is known about the values in it."""
    if isinstance(data, Val):
        return bare(data.data)
    if isinstance(data, Mapping):
        return {key: bare(one) for key, one in data.items()}
    if isinstance(data, list):
        return [bare(one) for one in data]
    return str(data) if isinstance(data, Hidden) else data


def _plain(value: Val) -> str:
    if isinstance(value.data, Mapping | list):
        return json.dumps(bare(value))
    return said(replace(value, quotes=""))


def said(value: Val) -> str:
    """Return a value as a template writes it."""
    data = value.data
    if data is None:
        return "" if not value.quotes else value.quotes * 2
    if isinstance(data, bool):
        text = "true" if data else "false"
    elif isinstance(data, int | float):
        if not abs(data) <= _LARGEST or (isinstance(data, float) and 0 < abs(data) < _SMALLEST):
            raise Unreadable(f"the number {data} is written in another way than it is read")
        text = str(int(data)) if data == int(data) else repr(data)
    elif isinstance(data, str | Hidden):
        text = str(data)
    else:
        raise Unreadable("a template writes a whole mapping or list as text")
    if value.quotes == '"':
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return value.quotes + text + value.quotes
