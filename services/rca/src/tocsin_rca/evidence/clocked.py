"""Curves that are written on one line, each number behind the time of day it was measured at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

_POINT = re.compile(
    r"(?<![\d:.-])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?[ =\t]{1,3}"
    r"(?P<value>\d{1,12}(?:\.\d{1,6})?)"
)
_TROUBLE = re.compile(r"(?i)latenc|p9\d|duration|response|error|5xx|fail|ratio|_ms\b|seconds")
_FEWEST, _MOST_LINES, _LONGEST = 3, 400, 1000
_TIMES = 3
_STEADY = 1.5
_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class Jump:
    """Between two minutes of a day a number became several times what it was, and stayed so."""

    line: str
    start: int
    end: int

    def holds(self, at: datetime, slack: int) -> bool:
        """Whether a moment lies between those minutes, or as many minutes before as are given."""
        minute = at.hour * 60 + at.minute
        return (minute - self.start + slack) % _DAY <= self.end - self.start + slack


def jumps(text: str) -> Iterator[Jump]:
    """Yield the jump of each curve of errors or times that has just one."""
    for line in text.splitlines()[:_MOST_LINES]:
        found = _jump(line[:_LONGEST]) if _TROUBLE.search(line[:_LONGEST]) else None
        if found:
            yield found


def _jump(line: str) -> Jump | None:
    points = [
        (int(one["hour"]) * 60 + int(one["minute"]), float(one["value"]))
        for one in _POINT.finditer(line)
    ]
    if len(points) < _FEWEST or points != sorted(points, key=lambda point: point[0]):
        return None
    for nth, ((start, before), (end, after)) in enumerate(pairwise(points), start=1):
        earlier, later = [v for _, v in points[:nth]], [v for _, v in points[nth:]]
        if after > 0 and min(later) >= _TIMES * max(earlier):
            return Jump(line.strip(), start, end)
        if after > _TIMES * _STEADY * max(before, 1e-9):
            return None
    return None
