"""The metrics of the workload and of the alert's own expression, around the alert's start."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tocsin_contracts import Alert, EvidenceKind, Period
from tocsin_rca.collectors import questions
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.questions import Question
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence.expressions import expression, threshold
from tocsin_rca.evidence.metric import Measure, Metric, Unit, at, told
from tocsin_rca.ports import Measured, Metrics, Series, Window

BEFORE = timedelta(hours=1)
AFTER = timedelta(minutes=15)
STEP = timedelta(seconds=30)
SELDOM = timedelta(minutes=5)
"""The step for what hardly changes: which metrics there are, and limits."""

MOST_SERIES = 6
"""Series of one question that are kept, those with the greatest values."""


@dataclass(frozen=True, slots=True)
class _Asking:
    """Who asks whom, and about which time."""

    inquiry: Inquiry
    metrics: Metrics
    start: datetime
    window: Window

    async def over(self, query: str, step: timedelta = STEP) -> Measured:
        self.inquiry.budget.spend()
        return await self.metrics.over(query, replace(self.window, step=step))

    def saw(self, query: str, metric: Metric) -> Observations:
        link = self.metrics.link(query, self.window)
        seen = self.inquiry.saw(
            EvidenceKind.METRIC,
            query,
            "\n".join(filter(None, (told(metric), link))),
            metric,
            source=self.metrics.source,
            ref=link,
            window=Period(start=self.window.start, end=self.window.end),
        )
        return (seen,)

    def missing(self, query: str, why: str) -> Observations:
        return (self.inquiry.missing(self.metrics.source, query, why),)


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return one observation for each series; nothing if there is no Prometheus to ask."""
    metrics = inquiry.metrics
    if metrics is None:
        return ()
    now = inquiry.clock.now()
    start, window = around(target.alert.starts_at or now, now)
    asking = _Asking(inquiry, metrics, start, window)
    return await together((_of_workload(target, asking), _of_alert(target.alert, asking)))


def around(began: datetime, now: datetime) -> tuple[datetime, Window]:
    """Return when an alert began, not later than now, and the time around it that is asked for."""
    start = min(began, now)
    return start, Window(start - BEFORE, min(now, start + AFTER), STEP)


async def _of_workload(target: Target, asking: _Asking) -> Observations:
    workload = target.workload
    if workload is None:
        return ()
    pods = [pod.ref.name for pod in target.pods]
    asked = questions.of_workload(workload, pods, asking.metrics.selects(target.cluster))
    if asked is None:
        return ()

    async def every() -> Observations:
        known = await asking.over(asked.known, SELDOM)
        found = asked.questions(series.labels.get("__name__", "") for series in known.series)
        if not found:
            return asking.missing(f"metrics of {workload}", "it knows none of the usual ones")
        answers = (
            asking.inquiry.ask(asking.metrics.source, one.query, _answered(one, asking))
            for one in found
        )
        return await together(answers)

    return await asking.inquiry.ask(asking.metrics.source, f"metrics of {workload}", every())


async def _answered(question: Question, asking: _Asking) -> Observations:
    answer = await asking.over(question.query)
    limits = (await asking.over(question.limit, SELDOM)).series if question.limit else ()
    by_labels = {_key(one.labels): at(one, asking.start) for one in limits}
    seen: Observations = ()
    for series in _greatest(answer.series):
        limit = by_labels.get(_key(series.labels))
        number = limit.value if limit else None
        metric = Metric(question.measure, question.unit, series, asking.start, number)
        seen += asking.saw(question.query, metric)
    return seen + _left_out(question.query, answer, answer.series, asking)


async def _of_alert(alert: Alert, asking: _Asking) -> Observations:
    links = (*alert.links.values(), alert.link)
    written = next(filter(None, map(expression, links)), "")
    if not written:
        return ()
    answer = _as_alerted(alert, written, asking)
    return await asking.inquiry.ask(asking.metrics.source, written, answer)


async def _as_alerted(alert: Alert, written: str, asking: _Asking) -> Observations:
    """The side that is compared is asked for: the whole says nothing while it does not hold."""
    compared = threshold(written)
    query = compared.value if compared else written
    answer = await asking.over(query)
    own = tuple(series for series in answer.series if _is_of(series, alert))
    seen: Observations = ()
    for series in _greatest(own):
        metric = Metric(Measure.ALERT, Unit.NUMBER, _without_name(series), asking.start)
        if compared:
            limited_by = f"it fires while that is {compared.op}"
            metric = replace(metric, limit=compared.limit, limited_by=limited_by)
        seen += asking.saw(query, metric)
    return seen + _left_out(query, answer, own, asking)


def _left_out(
    query: str, answer: Measured, own: tuple[Series, ...], asking: _Asking
) -> Observations:
    why = list(answer.warnings)
    if not own:
        others = f"; {len(answer.series)} series are of something else" if answer.series else ""
        why.append(f"nothing was measured in that hour{others}")
    if len(own) > MOST_SERIES:
        why.append(f"{len(own) - MOST_SERIES} more series were left out")
    return asking.missing(query, "; ".join(why)) if why else ()


def _greatest(found: Iterable[Series]) -> list[Series]:
    def greatest(series: Series) -> float:
        return max(sample.value for sample in series.samples)

    return sorted(found, key=greatest, reverse=True)[:MOST_SERIES]


def _is_of(series: Series, alert: Alert) -> bool:
    """Whether no label says that it is of something else than the alert."""
    named = ((name, text) for name, text in series.labels.items() if name != "__name__")
    return all(alert.labels.get(name, text) == text for name, text in named)


def _without_name(series: Series) -> Series:
    return Series({n: t for n, t in series.labels.items() if n != "__name__"}, series.samples)


def _key(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))
