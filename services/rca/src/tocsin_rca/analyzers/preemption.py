"""Pods that made way for one of a higher priority."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.statements import told

_PREEMPTED = re.compile(
    r"Preempted by (?:a pod\b|(?:pod )?(?P<by>[\w.-]{1,253}(?:/[\w.-]{1,253})?))"
    r"|[Pp]reempt(?:ing|ed) (?:to accommodate a higher priority (?i:pod|workload)"
    r"|in order to admit critical pod)"
    r"|Preempted in order to admit critical pod"
)


class Preemption:
    """The scheduler removed the pod so that a more important one has room."""

    name = "preemption"
    needs = "The events and conditions of the pods."
    proof = "The cluster says that the pod was preempted to make room for a more important one."
    against = "The words are about a pod of another workload."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; it works as it was set up, so there is no change."""
        found = sorted(told(case, _PREEMPTED), key=lambda one: sure(case, one.about, 0.95))
        if not found:
            return ()
        last = found[-1]
        owner = owner_of(case, last.about) or subject(case)
        by = f"pod {last.match['by']}" if last.match["by"] else "a pod of higher priority"
        return (
            Finding(
                cause=CauseClass.PREEMPTED,
                object=owner,
                confidence=sure(case, last.about, 0.95),
                summary=f"{owner} lost its place to {by}, which is more important.",
                evidence=proof(case, last.id),
                because="Priorities and capacity are for a person to decide.",
            ),
        )
