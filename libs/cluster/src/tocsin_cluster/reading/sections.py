"""Read the indented `Key: value` sections that `kubectl describe` prints."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime

from tocsin_cluster.reading.numbers import leading
from tocsin_cluster.reading.tables import cells

_KEY = re.compile(r"(?P<indent>\s*)(?P<key>[^\s:][^:]*?):(?:\s+(?P<value>.*))?$")
NOTHING = frozenset({"", "<none>", "<unset>", "<unknown>", "<nil>", "n/a"})


@dataclass(frozen=True, slots=True)
class Section:
    """A key, what stands beside it, and the lines below it that are further in."""

    key: str
    value: str
    lines: list[str] = field(default_factory=list)

    def inner(self) -> "Sections":
        """Return the sections below it."""
        return Sections(self.lines)

    def values(self) -> list[str]:
        """Return what stands beside the key and below it, without what means nothing."""
        every = (self.value, *(line.strip() for line in self.lines))
        return [value for value in every if value not in NOTHING]

    def pairs(self) -> dict[str, str]:
        """Return what is written as `key=value`, as labels are."""
        split = (value.partition("=") for value in self.values())
        return {key: value for key, equals, value in split if equals}


class Sections:
    """Sections of one depth, in the order of the text; lines that are none are passed over."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.all = list(_sections(lines))
        self._by_key = {section.key: section for section in reversed(self.all)}

    def get(self, *keys: str) -> Section:
        """Return the first section that has one of the keys; an empty one if there is none."""
        found = (self._by_key[key] for key in keys if key in self._by_key)
        return next(found, Section("", ""))

    def text(self, *keys: str) -> str:
        """Return what stands beside a key; empty for nothing."""
        value = self.get(*keys).value
        return "" if value in NOTHING else value

    def number(self, *keys: str) -> int | None:
        """Return the number that what stands beside a key begins with."""
        return leading(self.text(*keys))

    def has(self, *keys: str) -> bool:
        """Whether every key is there."""
        return all(key in self._by_key for key in keys)


def table(lines: list[str]) -> Iterator[list[str]]:
    """Yield the cells of each row of a table below a key; its header and rulers are left out.

    Such a table has a line of dashes below its header, or else no header that could be told.
    """
    rulers = [i for i, line in enumerate(lines) if line.strip() and set(line.strip()) <= {"-", " "}]
    if not rulers or not rulers[0]:
        yield from (re.split(r"\s{2,}", line.strip()) for line in lines if line.strip())
        return
    header = lines[rulers[0] - 1]
    yield from (cells(line, header) for line in lines[rulers[0] + 1 :] if line.strip())


def time(text: str) -> str | None:
    """Return a time as the API writes it; None if it is none."""
    try:
        read = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).isoformat()


def _sections(lines: Iterable[str]) -> Iterator[Section]:
    base: int | None = None
    current: Section | None = None
    for line in lines:
        found = _KEY.match(line)
        indent = len(line) - len(line.lstrip())
        if found and (base is None or indent <= base):
            base = indent
            if current:
                yield current
            current = Section(found["key"], (found["value"] or "").strip())
        elif current and line.strip():
            current.lines.append(line)
    if current:
        yield current
