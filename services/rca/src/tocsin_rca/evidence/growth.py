"""Whether what a program tells or is measured to hold only ever grows, which no limit cures."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

_MEMORY = re.compile(
    r"(?i)\b(?:memory|mem|heap|allocated|retained|cache|rss"
    r")(?P<name>\w{0,40})[^0-9\n]{1,24}?(?P<number>\d{1,15}(?:\.\d{1,9})?)"
    r"(?:\s?(?P<unit>[kmg])i?b?\b)?"
)
_KEPT = re.compile(
    r"(?i)\b(?:cached?|retained|live[ _]objects|in[- _]memory|leaked|entries|buffered)"
    r"(?P<name>\w{0,40})[^0-9\n]{1,24}?(?P<number>\d{1,12})(?![\d.]|\s?(?:%|m?s\b))"
)
_NOT_USED = re.compile(r"(?i)limit|max|total|percent|free|avail|request|miss|hit|ttl|ratio|evict")
_NAMED = re.compile(r"(?i)_(?P<unit>[kmg])i?b$")
_UNITS = {"k": 1, "m": 1024, "g": 1024**2}
_SIZE = re.compile(r"(?P<number>\d{1,12})(?P<unit>[KMG])i\b")
_SUBJECT = re.compile(r"\b[a-z][a-z0-9.-]{2,200}[a-z0-9]\b")
_STEPS = 4
_MOST = 20_000
_MOST_ROWS = 500
_LONG = 1200
_LONGEST_ROW = 4000
_OF_MEMORY = re.compile(r"(?i)mem|rss|heap|working.?set")
_MOSTLY = 0.9


def only_grows(log: str) -> bool:
    """Whether the memory a log reports takes at least four steps up, none down, and doubles.

    A fall to less than half is a restart: one of the stretches between them has to grow so.
    """
    return any(_grows(stretch) for stretch in _stretches(_sizes(log)))


def piles_up(log: str) -> bool:
    """Whether a log counts what the program keeps, and the count grows in the same way."""
    found = zip(range(_MOST), _KEPT.finditer(log), strict=False)
    counts = (float(one["number"]) for _, one in found if not _NOT_USED.search(one.group()))
    return any(_grows(stretch) for stretch in _stretches(counts))


def table_grows(text: str) -> bool:
    """Whether one subject stands in several rows of a table, each time with more memory."""
    rows: dict[str, list[float]] = {}
    for row in text.splitlines()[:_MOST_ROWS]:
        size, subject = _SIZE.search(row), _SUBJECT.search(row)
        if size and subject:
            number = float(size["number"]) * _UNITS[size["unit"].lower()]
            rows.setdefault(subject.group(), []).append(number)
    return any(_grows(s, steps=3) for sizes in rows.values() for s in _stretches(sizes))


def row_grows(text: str) -> bool:
    """Whether one row tells of ever more memory, as a curve is written on one line."""
    rows = (row for row in text.splitlines()[:_MOST_ROWS] if _OF_MEMORY.search(row))
    return any(_grows(s, steps=3) for row in rows for s in _stretches(_in_row(row)))


def climbs(times: Sequence[float], values: Sequence[float]) -> bool:
    """Whether a curve rises by half or more, for long and nearly without a fall."""
    start = 0
    for end in range(1, len(values) + 1):
        if end == len(values) or values[end] < values[end - 1] / 2:
            if _climbs(times[start:end], values[start:end]):
                return True
            start = end
    return False


def _in_row(row: str) -> Iterator[float]:
    sizes = _SIZE.finditer(row[:_LONGEST_ROW])
    return (float(one["number"]) * _UNITS[one["unit"].lower()] for one in sizes)


def _climbs(times: Sequence[float], values: Sequence[float]) -> bool:
    if len(values) <= _STEPS or times[-1] - times[0] < _LONG:
        return False
    up = sum(after >= before for before, after in pairwise(values))
    half = values[len(values) // 2]
    steady = values[0] < half < values[-1]
    return steady and up >= _MOSTLY * (len(values) - 1) and values[-1] >= 1.5 * values[0]


def _stretches(sizes: Iterable[float]) -> Iterator[list[float]]:
    stretch: list[float] = []
    for size in sizes:
        if stretch and size < stretch[-1] / 2:
            yield stretch
            stretch = []
        stretch.append(size)
    yield stretch


def _grows(sizes: list[float], steps: int = _STEPS) -> bool:
    rising = list(dict.fromkeys(sizes))
    return len(rising) > steps and sizes == sorted(sizes) and rising[-1] >= 2 * rising[0]


def _sizes(log: str) -> Iterator[float]:
    for _, found in zip(range(_MOST), _MEMORY.finditer(log), strict=False):
        named = _NAMED.search(found["name"])
        unit = found["unit"] or (named["unit"] if named else "")
        if unit and not _NOT_USED.search(found["name"]):
            yield float(found["number"]) * _UNITS[unit.lower()]
