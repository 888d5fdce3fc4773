"""How much a metric changed when an alert began, beside how much it changes anyway."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import correlation, median, quantiles

_FLOOR = 0.01
"""Share of a metric's usual size that counts as its noise, however still it was before."""

_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Series:
    """A metric of something over time; the times are seconds, and grow."""

    subject: str
    metric: str
    times: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def is_constant(self) -> bool:
        """Whether it never changes, so that it can tell nothing."""
        return len(set(self.values)) <= 1

    def around(self, time: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the values before a time, and those from it on."""
        pairs = tuple(zip(self.times, self.values, strict=True))
        before = tuple(value for at, value in pairs if at < time)
        return before, tuple(value for at, value in pairs if at >= time)


def deviation(before: Sequence[float], after: Sequence[float]) -> float:
    """Return how far the middle moved, in units of the spread before; 0 where too little is known.

    The spread is that of the middle half before, at least a hundredth of its usual size: a metric
    that stood still before is not infinitely alarming when it moves a little.
    """
    if len(before) < _FEWEST or not after:
        return 0.0
    usual, moved = median(before), median(after)
    low, _, high = quantiles(before, n=4)
    scale = max(high - low, _FLOOR * abs(usual))
    if scale == 0:
        return 0.0 if moved == usual else abs(moved) / _FLOOR / max(abs(moved), 1.0)
    return abs(moved - usual) / scale


def likeness(one: Series, other: Series) -> float:
    """Return how alike two metrics move over the times that both have: between 0 and 1."""
    at = dict(zip(other.times, other.values, strict=True))
    pairs = [(v, at[t]) for t, v in zip(one.times, one.values, strict=True) if t in at]
    if len(pairs) < _FEWEST:
        return 0.0
    left, right = zip(*pairs, strict=True)
    if len(set(left)) == 1 or len(set(right)) == 1:
        return 0.0
    try:
        return min(1.0, abs(correlation(left, right)))
    except (ArithmeticError, ValueError):
        return 0.0


def change_point(series: Series, begun: float, slack: float) -> float:
    """Return the time within `slack` seconds before the alert at which the metric moved most.

    An alert begins some time after what it is about; without a clear step it is the alert's time.
    """
    candidates = [t for t in series.times if begun - slack <= t <= begun]
    best, moved = begun, deviation(*series.around(begun))
    for time in candidates:
        if (found := deviation(*series.around(time))) >= moved > 0 or found > moved:
            best, moved = time, found
    return best


def in_order(times: Iterable[float]) -> bool:
    """Whether times only grow."""
    return all(one < other for one, other in pairwise(times))
