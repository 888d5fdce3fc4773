"""Services whose metrics changed when an alert began, where the trouble begins and not ends."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.known import running
from tocsin_rca.evidence.localising import Suspect, deepest, suspects
from tocsin_rca.evidence.measurements import anomalies_in, calls_in, series_in
from tocsin_rca.evidence.metric import Measure
from tocsin_rca.evidence.series import Series

_THEMES = (
    (re.compile(r"(?i)packet|network|retrans|\bnet[_ ]|bandwidth|receive|transmit|\brtt\b"),
     CauseClass.NETWORK_DEGRADED, 0.78),
    (re.compile(r"(?i)cpu|load average|\bload\d"), CauseClass.CPU_OVERLOAD, 0.7),
    (re.compile(r"(?i)latenc|duration|response|delay|p9\d|percentile"),
     CauseClass.APP_LATENCY, 0.72),
    (re.compile(r"(?i)error|5xx|fail|success"), CauseClass.APP_ERROR, 0.68),
)  # fmt: skip


class MetricAnomaly:
    """The metrics themselves say what changed, and the call graph which service was first."""

    name = "metric_anomaly"
    needs = "Metrics from before and after the alert began, reported anomalies, and who calls whom."
    proof = (
        "A metric of a service changed most when the alert began, and nothing that it calls "
        "changed as well."
    )
    against = (
        "The metric hardly changes, moves unlike that of the alert, or is none of network, CPU, "
        "latency or errors."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding about the service that leads, or nothing."""
        ids, found, calls = [], list[Suspect](), dict[str, frozenset[str]]()
        series = list[Series]()
        for seen in case.checks:
            graph = calls_in(seen.data.data, seen.data.text)
            told = anomalies_in(seen.data.data, seen.data.text)
            curves = series_in(seen.data.data)
            calls |= graph
            found += told
            series += curves
            ids += [seen.id] if graph or told or curves else []
        began = case.alert.starts_at
        measured = tuple(_measured(case))
        symptom = next((one for _, one, is_alert in measured if is_alert), None)
        series += [one for _, one, is_alert in measured if not is_alert]
        ids += [id_ for id_, _, _ in measured]
        found += suspects(series, began.timestamp(), symptom) if began else ()
        return tuple(_finding(case, one, ids) for one in _leading(found, calls))


def _measured(case: Case) -> Iterator[tuple[str, Series, bool]]:
    """The metrics that were asked for, and whether each is the alert's own expression."""
    for seen in case.metrics:
        labels, samples = seen.data.series.labels, seen.data.series.samples
        own = case.workload.name if case.workload else ""
        subject = labels.get("service") or labels.get("deployment") or labels.get("pod") or own
        times = tuple(sample.at.timestamp() for sample in samples)
        curve = Series(subject, seen.data.measure.value, times, tuple(s.value for s in samples))
        yield seen.id, curve, seen.data.measure is Measure.ALERT


def _leading(found: list[Suspect], calls: dict[str, frozenset[str]]) -> tuple[Suspect, ...]:
    in_order = sorted(found, key=lambda one: (-one.score, one.subject, one.metric))
    return tuple(one for one in deepest(in_order, calls) if _theme(one.metric))[:1]


def _theme(metric: str) -> tuple[CauseClass, float] | None:
    fits = ((cause, sure) for pattern, cause, sure in _THEMES if pattern.search(metric))
    return next(fits, None)


def _finding(case: Case, one: Suspect, ids: list[str]) -> Finding:
    cause, sure = _theme(one.metric) or (CauseClass.APP_ERROR, 0.5)
    return Finding(
        cause=cause,
        object=_named(case, one.subject),
        confidence=sure,
        summary=f"{one.metric} of {one.subject} changed most when the alert began, and nothing that"
        " it calls did.",
        evidence=tuple(dict.fromkeys(ids))[:5],
        because="Metrics say where it began, not which field would put it right.",
    )


def _named(case: Case, subject: str) -> ObjectRef:
    """The workload of that name, if one is known."""
    place = case.workload or case.named
    if not subject and place:
        return place
    namespace = place.namespace if place else case.alert.labels.get("namespace", "")
    refs = [runs.ref for runs in running(case, namespace)]
    own = [ref for ref in refs if subject == ref.name or subject.startswith(f"{ref.name}-")]
    return (
        own[0] if own else ObjectRef(kind="Service", namespace=namespace, name=subject or "unknown")
    )
