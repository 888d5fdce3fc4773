"""One series around the start of an alert: the numbers first, for people and for analyzers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import median

from tocsin_rca.evidence.distances import distance
from tocsin_rca.ports import Sample, Series

_KI = 1024.0
_SIZES = ("", "Ki", "Mi", "Gi", "Ti")
_MILLI = 0.001


class Measure(StrEnum):
    """What a series measures."""

    MEMORY = "memory working set"
    CPU = "CPU use"
    THROTTLING = "throttled share of the CPU periods"
    RESTARTS = "restarts so far"
    ERRORS = "failed share of the requests"
    LATENCY = "95th percentile of the time of requests"
    ALERT = "the alert's own expression"


class Unit(StrEnum):
    """What its numbers count."""

    BYTES = "bytes"
    CORES = "cores"
    RATIO = "ratio"
    SECONDS = "seconds"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Metric:
    """A series, and what it has to be read against: when the alert began, and a limit if any.

    `limit` is in the unit of the series: what the container may take at most, or the number that
    the alert compares with.
    """

    measure: Measure
    unit: Unit
    series: Series
    start: datetime
    limit: float | None = None
    limited_by: str = "limit"

    @property
    def at_start(self) -> Sample | None:
        """The last sample when the alert began; the first one if there was none before."""
        return at(self.series, self.start)

    @property
    def before(self) -> tuple[Sample, ...]:
        """The samples up to the moment when the alert began."""
        return tuple(one for one in self.series.samples if one.at <= self.start)

    @property
    def after(self) -> tuple[Sample, ...]:
        """The samples since then."""
        return tuple(one for one in self.series.samples if one.at > self.start)

    @property
    def subject(self) -> str:
        """What was measured, as its labels say it; empty for a sum over everything."""
        shown = (f"{name} {text}" for name, text in sorted(self.series.labels.items()) if text)
        return ", ".join(shown)


def at(series: Series, moment: datetime) -> Sample | None:
    """Return the last sample at a moment, else the first one; None if nothing was measured."""
    until = [sample for sample in series.samples if sample.at <= moment]
    return until[-1] if until else next(iter(series.samples), None)


def told(metric: Metric) -> str:
    """Return a sentence with the numbers."""
    begun = metric.at_start
    if begun is None:
        return f"{metric.measure}: nothing was measured"
    of = f" of {metric.subject}" if metric.subject else ""
    now = f"{metric.measure}{of}: {written(begun.value, metric.unit)} when the alert began"
    if not metric.before:
        now += f" (first measured {distance(begun.at, metric.start)})"
    parts = (now, _against(metric, begun.value), _range("before", metric, metric.before))
    return "; ".join(filter(None, (*parts, _range("since", metric, metric.after))))


def written(value: float, unit: Unit) -> str:
    """Return a number as people write it in its unit."""
    if unit is Unit.BYTES:
        return _size(value)
    if unit is Unit.RATIO:
        return f"{value * 100:.3g} %"
    if unit is Unit.CORES:
        return f"{value:.3g} cores"
    if unit is Unit.SECONDS:
        return f"{value / _MILLI:.3g} ms" if abs(value) < 1 else f"{value:.3g} s"
    return f"{value:.6g}"


def _size(value: float) -> str:
    unit = 0
    while abs(value) >= _KI and unit < len(_SIZES) - 1:
        value, unit = value / _KI, unit + 1
    return f"{value:.4g}{_SIZES[unit]}"


def _against(metric: Metric, value: float) -> str:
    limit = metric.limit
    if limit is None:
        return ""
    text = f"{metric.limited_by} {written(limit, metric.unit)}"
    if metric.measure is Measure.ALERT or limit <= 0:
        return text
    return f"{text}, of which that is {value / limit * 100:.0f} %"


def _range(when: str, metric: Metric, samples: Iterable[Sample]) -> str:
    values = [one.value for one in samples]
    if not values:
        return ""
    low, middle, high = (
        written(value, metric.unit) for value in (min(values), median(values), max(values))
    )
    return f"{when}: min {low}, median {middle}, max {high} ({len(values)} samples)"
