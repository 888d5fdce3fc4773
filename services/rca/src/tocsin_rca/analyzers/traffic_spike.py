"""More load than there is capacity for, or than a rate limit lets through, with nothing broken."""

import re

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, owner_of, proof, sure
from tocsin_rca.evidence.statements import Told, logged, told

_LIMITED = re.compile(
    r"(?i)\b429\b[^\n]{0,60}too many requests|too many requests[^\n]{0,60}\b429\b"
    r"|rate.?limit(?:ed|er)?\b[^\n]{0,40}\b(?:exceeded|reached|hit|rejected|reject|throttl)"
    r"|\b(?:exceeded|over|hit|reached)\b[^\n]{0,20}\brate.?limit|throttl(?:ed|ing) requests?\b"
    r"|(?:code|status)\S{0,4}[ =:]{1,3}\"?429\b|limiting requests, excess|load shedding"
)
_ALERT = re.compile(
    r"(?i)traffic.{0,20}(?:spike|surge|burst|flood)|(?:spike|surge|burst) (?:in|of)"
    r" (?:traffic|requests|load)|high ?(?:request|traffic) ?(?:rate|volume|load)(?! ?error)"
    r"|request ?rate ?(?:high|spike)|rate.?limit|too ?many ?requests|http ?429"
    r"|loadgenerator.{0,20}flood"
)
_PULL = re.compile(r"(?i)toomanyrequests|pull rate|docker\.io|registry")


class TrafficSpike:
    """Logs or the alert speak of a flood of requests, or of requests over a rate limit."""

    name = "traffic_spike"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; how much load is welcome is for a person to say."""
        alerted = _ALERT.search(alert_words(case))
        found = [one for one in _limited(case) if not _PULL.search(one.statement.text)]
        if not (alerted or found):
            return ()
        subject = owner_of(case, found[0].about if found else None) or _fallback(case)
        said = found[0].statement.text[:200] if found else case.alert.title
        return (
            Finding(
                cause=CauseClass.TRAFFIC_SPIKE_RATE_LIMITED,
                object=subject,
                confidence=_confidence(case, found, bool(alerted)),
                summary=f"{subject} gets more requests than it may or can answer: {said}.",
                evidence=proof(
                    case,
                    *(one.id for one in found[:3]),
                    *(alert_id(case) if alerted else ()),
                ),
            ),
        )


def _limited(case: Case) -> tuple[Told, ...]:
    return logged(case, _LIMITED) or tuple(one for one in told(case, _LIMITED) if one.about is None)


def _confidence(case: Case, found: list[Told], alerted: bool) -> float:
    if found and alerted:
        return 0.92
    return sure(case, found[0].about, 0.82) if found else 0.78


def _fallback(case: Case) -> ObjectRef:
    namespace = case.alert.labels.get("namespace") or "unknown"
    return case.named or ObjectRef(kind="Namespace", name=namespace)
