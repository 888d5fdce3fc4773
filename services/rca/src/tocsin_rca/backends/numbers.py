"""Series of numbers in few: the last value, the least and the most, and when that was."""

import math
from collections.abc import Iterable, Sequence

from pydantic import AwareDatetime

from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief, Told, counted, moment

MOST_SERIES = 20

Point = tuple[float, float | None]
"""Seconds since 1970, and a value; none if nothing was measured."""


class Numbers(Brief):
    """One series."""

    name: str
    last: float
    least: float
    most: float
    most_at: AwareDatetime
    mean: float
    points: int


class Measured(Told):
    """Series, those that moved furthest first, as a part of what they are."""

    series: tuple[Numbers, ...] = ()


def measured(found: Iterable[tuple[str, Sequence[Point]]], link: str) -> Measured:
    """Return what series tell, by their names; those without any number are left out."""
    every = [told for name, points in found if (told := numbers(name, points))]
    every.sort(key=lambda one: -(one.most - one.least) / (abs(one.mean) or 1))
    first = every[0] if every else None
    moved = f"; {first.name} moved between {first.least:g} and {first.most:g}" if first else ""
    return Measured(
        said=f"{counted(len(every), 'series', 'series')}{moved}.",
        link=link,
        left_out=max(0, len(every) - MOST_SERIES) or None,
        series=tuple(every[:MOST_SERIES]),
    )


def numbers(name: str, points: Sequence[Point]) -> Numbers | None:
    """Return what one series tells; None for one without a number."""
    known = [(at, value) for at, value in points if value is not None and math.isfinite(value)]
    if not known:
        return None
    values = [value for _, value in known]
    at, most = max(known, key=lambda point: point[1])
    return Numbers(
        name=line(name, 200),
        last=known[-1][1],
        least=min(values),
        most=most,
        most_at=moment(at),
        mean=float(f"{sum(values) / len(values):.4g}"),
        points=len(values),
    )
