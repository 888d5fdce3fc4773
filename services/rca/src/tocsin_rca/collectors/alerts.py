"""Alerts as evidence: the one that opened the run, and those that joined it meanwhile."""

from collections.abc import Iterable
from dataclasses import replace

from tocsin_contracts import Alert, EvidenceKind, RelatedAlert
from tocsin_rca.collectors.inquiry import Inquiry
from tocsin_rca.evidence import Case, Observation, number, observe


def opening(alert: Alert, inquiry: Inquiry) -> Observation[Alert]:
    """Return the observation of the alert that is investigated."""
    told = _text(alert)
    return inquiry.saw(
        EvidenceKind.ALERT, _query(alert), told, alert, source=alert.source, ref=alert.link
    )


def heard(case: Case, news: Iterable[RelatedAlert]) -> Case:
    """Return the case with the alerts that it does not know yet, behind all that has its id."""
    known = {seen.data.fingerprint for seen in case.observations if isinstance(seen.data, Alert)}
    fresh = tuple(_joined(one) for one in news if one.alert.fingerprint not in known)
    return replace(case, observations=number((*case.observations, *fresh))) if fresh else case


def _joined(news: RelatedAlert) -> Observation[Alert]:
    alert = news.alert
    return observe(
        EvidenceKind.ALERT,
        source=alert.source,
        query=_query(alert),
        at=news.at,
        text=f"{_text(alert)}\njoined the run: {news.why}",
        data=alert,
    )


def _query(alert: Alert) -> str:
    return f"alert {alert.fingerprint}"


def _text(alert: Alert) -> str:
    labels = "".join(f"\n  {key}: {value}" for key, value in sorted(alert.labels.items()))
    return f"{alert.title} ({alert.severity.value})\n{alert.summary}\nlabels:{labels}"
