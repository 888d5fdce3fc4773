"""More load than there is capacity for, with nothing broken."""

import re

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, proof

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


class TrafficSpike:
    """The alert, or a check, speaks of a flood of requests."""

    name = "traffic_spike"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; how much load is welcome is for a person to say."""
        alerted = _ALERT.search(alert_words(case)) is not None
        measured = [one for one in case.checks if _MEASURED.search(one.data.text[:64_000])]
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
                confidence=0.9 if alerted and measured else 0.8 if alerted else 0.65,
                summary=f"{subject} gets more requests than usual, and nothing shows a fault.",
                evidence=proof(case, *ids),
            ),
        )
