"""More load than there is capacity for, with nothing broken."""

import re

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, proof
from tocsin_rca.evidence.measurements import steps_in

_ALERT = re.compile(
    r"(?i)traffic.{0,20}(?:spike|surge|burst|flood)|(?:spike|surge|burst) (?:in|of)"
    r" (?:traffic|requests|load)|high ?(?:request|traffic) ?(?:rate|volume|load)(?! ?error)"
    r"|request ?rate ?(?:high|spike)|rate.?limit|too ?many ?requests|http ?429"
    r"|load.?generator.{0,20}flood"
)
_MEASURED = re.compile(
    r"(?i)\b(?:requests?|rps|qps|traffic|throughput|connections)\b[^\n]{0,80}\b(?:spik\w{1,4}"
    r"|surg\w{1,3}"
    r"|anomal\w{1,6}|\d{1,4}(?:\.\d{1,3})? ?(?:x|times) (?:the )?(?:normal|usual|baseline|average))"
)
_REQUESTS = re.compile(
    r"(?i)requests?(?:_rate|_total|/s|[ _]per[ _]|[ _]rate|$)|\b(?:rps|qps)\b|_rq(?:_|\b)"
    r"|throughput|traffic"
)
_OF_TROUBLE = re.compile(r"(?i)error|5xx|4xx|fail|latenc|duration|p9\d|seconds|_ms\b")
_FLOOD = 3


class TrafficSpike:
    """The alert, or a check, speaks of a flood of requests."""

    name = "traffic_spike"
    needs = "The words of the alert, and what checks measured."
    proof = (
        "The alert tells of a flood of requests, or a check measures far more of them than usual."
    )
    against = "Only one of the two says so; what rose are errors or latency, not requests."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; how much load is welcome is for a person to say."""
        alerted = _ALERT.search(alert_words(case)) is not None
        measured = [one for one in case.checks if _is_measured(one.data.text[:64_000])]
        if not (alerted or measured):
            return ()
        namespace = case.alert.labels.get("namespace") or "unknown"
        fallback = ObjectRef(kind="Namespace", name=namespace)
        subject = case.workload or case.named or fallback
        ids = (*(one.id for one in measured[:3]), *(alert_id(case) if alerted else ()))
        return (
            Finding(
                cause=CauseClass.TRAFFIC_SPIKE_RATE_LIMITED,
                object=subject,
                confidence=0.9 if alerted and measured else 0.8 if alerted else 0.7,
                summary=f"{subject} gets more requests than usual, and nothing shows a fault.",
                evidence=proof(case, *ids),
            ),
        )


def _is_measured(text: str) -> bool:
    grown = (one.metric for one in steps_in(text) if one.now >= _FLOOD * max(one.usual, 1))
    floods = any(_REQUESTS.search(one) and not _OF_TROUBLE.search(one) for one in grown)
    return floods or _MEASURED.search(text) is not None
