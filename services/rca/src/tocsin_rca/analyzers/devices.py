"""Pods that wait for a GPU or another extended resource."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.placement import Obstacle
from tocsin_rca.evidence.pod_needs import requested
from tocsin_rca.evidence.statements import told
from tocsin_rca.evidence.unscheduled import Unscheduled, unscheduled

_GPU = re.compile(r"gpu|nvidia\.com/|gaudi|habana")
_SIZED = ("cpu", "memory")
_ALLOCATION = re.compile(
    r"(?:requested number of devices unavailable for|can't allocate unregistered device|Node didn't"
    r" have enough resource:) (?P<resource>[\w.-]{1,100}/[\w.-]{1,100})"
)


class Devices:
    """No node has as many devices free, or has such devices at all."""

    name = "devices"
    needs = (
        "Why the scheduler found no place, what the pod asks for, what nodes offer, and what the "
        "kubelet said."
    )
    proof = (
        "What decides is a GPU or another device of which no node has enough free, or the "
        "kubelet had none to give."
    )
    against = (
        "Another obstacle that decides, such as CPU, memory or labels; a pod that is only nearby "
        "or of which the scheduler says nothing."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; devices are capacity, so there is no change."""
        seen = unscheduled(case)
        refusal = decisive(seen) if seen else None
        if seen and refusal and refusal.obstacle is Obstacle.RESOURCE:
            return () if refusal.detail in _SIZED else (_waiting(seen, refusal.detail),)
        return tuple(_unallocated(case))


def _waiting(seen: Unscheduled, resource: str) -> Finding:
    offers = [size for node in seen.nodes if (size := node.offers(resource)) is not None]
    asked = requested(seen.spec, resource)
    most = f"; the largest node has {max(offers)}" if offers else ""
    ids = (node.id for node in seen.nodes if node.offers(resource) is not None)
    return _finding(
        seen.object,
        resource,
        seen.sure(0.95),
        f"{seen.object} waits for {asked or 'some'} {resource}, which no node has free{most}.",
        seen.proven_by(*ids),
    )


def _unallocated(case: Case) -> Iterator[Finding]:
    for one in told(case, _ALLOCATION)[-1:]:
        owner, resource = owner_of(case, one.about), one.match["resource"]
        if owner:
            said = f"The kubelet had no {resource} to give to {owner}."
            ids = proof(case, one.id)
            yield _finding(owner, resource, sure(case, one.about, 0.93), said, ids)


def _finding(
    owner: ObjectRef, resource: str, confidence: float, summary: str, evidence: tuple[str, ...]
) -> Finding:
    gpu = bool(_GPU.search(resource))
    return Finding(
        cause=CauseClass.INSUFFICIENT_GPU if gpu else CauseClass.INSUFFICIENT_EXTENDED_RESOURCE,
        object=owner,
        confidence=confidence,
        summary=summary,
        evidence=evidence,
        because="To ask for fewer may break the program: capacity is for a person to decide.",
    )
