"""Nodes that run as many pods as they may."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, owner_of, proof, sure
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.placement import Obstacle
from tocsin_rca.evidence.statements import told
from tocsin_rca.evidence.unscheduled import unscheduled

_ALERT = re.compile(r"KubeletTooManyPods|(?i:pod capacity|too many pods|pods? per node)")
_REFUSED = re.compile(r"OutOfpods|Node didn't have enough resource: pods")


class PodCapacity:
    """The scheduler, the kubelet or the alert itself says that no more pods are allowed."""

    name = "pod_capacity"
    needs = "The words of the scheduler, of the kubelet or of the alert."
    proof = (
        "One of them says that the node, or every node that would do, runs as many pods as it may."
    )
    against = (
        "Another obstacle that decides instead, such as a volume or a shortage; words about a pod "
        "of another workload."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the number of pods of a node is set where nodes are made."""
        return tuple(_findings(case))[:1]


def _findings(case: Case) -> Iterator[Finding]:
    seen = unscheduled(case)
    refusal = decisive(seen) if seen else None
    if seen and refusal and refusal.obstacle is Obstacle.PODS:
        said = f"{seen.object} finds no node: {refusal.count} nodes run as many pods as they may."
        yield _finding(seen.object, seen.sure(0.95), said, seen.proven_by())
    for one in told(case, _REFUSED)[-1:]:
        owner = owner_of(case, one.about)
        if owner:
            said = f"The node that {owner} was given runs as many pods as it may."
            yield _finding(owner, sure(case, one.about, 0.93), said, proof(case, one.id))
    if _ALERT.search(alert_words(case)) and case.named:
        said = f"{case.named} runs as many pods as it may, as the alert says."
        yield _finding(case.named, 0.9, said, alert_id(case))


def _finding(ref: ObjectRef, confidence: float, said: str, evidence: tuple[str, ...]) -> Finding:
    return Finding(
        cause=CauseClass.NODE_POD_CAPACITY,
        object=ref,
        confidence=confidence,
        summary=said,
        evidence=evidence,
    )
