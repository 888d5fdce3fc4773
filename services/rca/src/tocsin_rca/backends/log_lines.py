"""Many lines of logs in few: those that differ only in numbers are one, the troubled ones first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief, Told, counted

MOST_READ = 1000
"""Lines that are asked for: the newest ones; the rest is only counted, where that is known."""

_LONGEST = 400
_MOST_WRITERS = 5
_VARYING = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8,}\b|\d+")
_TROUBLE = re.compile(
    r"(?i)\b(?:error|exception|fatal|panic|critical|fail(?:ed|ure)?|refused|denied|timed?.?out"
    r"|unavailable|traceback|oom\w*|killed)\b"
)

Shapes = Annotated[int, Field(ge=1, le=50, description="How many different lines at most.")]


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line, when it was written, and by whom."""

    at: datetime
    text: str
    by: str = ""


class LogShape(Brief):
    """Lines alike: how many, from when to when, and the newest of them as it is."""

    count: int
    first: datetime
    last: datetime
    by: tuple[str, ...] = ()
    text: str


class Part(Brief):
    """How many lines there were in a part of the time, which begins then."""

    since: datetime
    count: int


class Logs(Told):
    """Lines that were found, those that speak of trouble first, then the most frequent.

    `over_time` counts all, where that is known.
    """

    over_time: tuple[Part, ...] = ()
    shapes: tuple[LogShape, ...] = ()


def logs(
    lines: Iterable[LogLine],
    most: int,
    *,
    total: int | None = None,
    over_time: Sequence[Part] = (),
    link: str = "",
) -> Logs:
    """Return what the lines say; `total` counts them all, read or not."""
    read = list(lines)
    every = shapes(read)
    among = f", the newest of {total}," if total is not None and total > len(read) else ""
    troubled = sum(one.count for one in every if _TROUBLE.search(one.text))
    return Logs(
        said=f"{counted(len(read), 'line')}{among} in {counted(len(every), 'shape')}; "
        f"{troubled} of the lines tell of trouble."
        if read
        else "No line was found.",
        link=link,
        left_out=max(0, len(every) - most) or None,
        over_time=tuple(over_time),
        shapes=tuple(every[:most]),
    )


def shapes(lines: Iterable[LogLine]) -> list[LogShape]:
    """Return the lines by their shape."""
    alike: dict[str, list[LogLine]] = {}
    for one in lines:
        alike.setdefault(_VARYING.sub("#", one.text[:_LONGEST]), []).append(one)
    found = [_shape(same) for same in alike.values()]
    return sorted(found, key=lambda one: (not _TROUBLE.search(one.text), -one.count, one.text))


def _shape(same: list[LogLine]) -> LogShape:
    newest = max(same, key=lambda one: one.at)
    writers = sorted({line(one.by) for one in same if one.by})
    return LogShape(
        count=len(same),
        first=min(one.at for one in same),
        last=newest.at,
        by=tuple(writers[:_MOST_WRITERS]),
        text=line(newest.text, _LONGEST),
    )
