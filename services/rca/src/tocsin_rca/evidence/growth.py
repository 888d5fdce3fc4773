"""Whether a log tells of memory that only ever grows, which no limit cures."""

import re
from collections.abc import Iterator

_MEMORY = re.compile(
    r"(?i)\b(?:memory|mem|heap"
    r"|rss)(?P<name>\w{0,40})[^0-9\n]{1,24}?(?P<number>\d{1,15}(?:\.\d{1,9})?)"
    r"(?:\s?(?P<unit>[kmg])i?b?\b)?"
)
_NOT_USED = re.compile(r"(?i)limit|max|total|percent|free|avail|request")
_NAMED = re.compile(r"(?i)_(?P<unit>[kmg])i?b$")
_UNITS = {"k": 1, "m": 1024, "g": 1024**2}
_STEPS = 4
_MOST = 20_000


def only_grows(log: str) -> bool:
    """Whether the memory a log reports takes at least four steps up, none down, and doubles.

    A fall to less than half is a restart: one of the stretches between them has to grow so.
    """
    stretch: list[float] = []
    for size in _sizes(log):
        if stretch and size < stretch[-1] / 2:
            if _grows(stretch):
                return True
            stretch = []
        stretch.append(size)
    return _grows(stretch)


def _grows(sizes: list[float]) -> bool:
    steps = list(dict.fromkeys(sizes))
    return len(steps) > _STEPS and sizes == sorted(sizes) and steps[-1] >= 2 * steps[0]


def _sizes(log: str) -> Iterator[float]:
    for _, found in zip(range(_MOST), _MEMORY.finditer(log), strict=False):
        named = _NAMED.search(found["name"])
        unit = found["unit"] or (named["unit"] if named else "")
        if unit and not _NOT_USED.search(found["name"]):
            yield float(found["number"]) * _UNITS[unit.lower()]
