"""Pods that made way for one of a higher priority."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.statements import told

_PREEMPTED = re.compile(
    r"Preempted by (?:a pod\b|(?:pod )?(?P<by>[\w.-]{1,253}(?:/[\w.-]{1,253})?))"
    r"|preempt(?:ing|ed) (?:to accommodate a higher priority pod|in order to admit critical pod)"
    r"|Preempted in order to admit critical pod"
)


class Preemption:
    """The scheduler removed the pod so that a more important one has room."""

    name = "preemption"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; it works as it was set up, so there is no change."""
        found = sorted(told(case, _PREEMPTED), key=lambda one: sure(case, one.about, 0.95))
        owner = owner_of(case, found[-1].about) if found else None
        if owner is None:
            return ()
        last = found[-1]
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
