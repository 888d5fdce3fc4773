"""Requests for CPU or memory that no node can hold."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Container
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.node_facts import amount
from tocsin_rca.evidence.placement import Obstacle
from tocsin_rca.evidence.pod_needs import requested
from tocsin_rca.evidence.sizes import fitting
from tocsin_rca.evidence.statements import told
from tocsin_rca.evidence.unscheduled import Unscheduled, unscheduled

_CAUSES = {
    "cpu": CauseClass.CPU_REQUEST_TOO_LARGE,
    "memory": CauseClass.MEMORY_REQUEST_TOO_LARGE,
}
_REFUSED = re.compile(
    r"Node didn't have enough resource: (?P<resource>cpu|memory), requested: (?P<asked>\d{1,18})"
)
_Change = tuple[FieldChange | None, str, tuple[str, ...]]


class RequestSize:
    """The scheduler, or the kubelet, finds too little CPU or memory on every node that fits."""

    name = "request_size"
    needs = (
        "The words of the scheduler or the kubelet, the requests of the pod, and what nodes offer."
    )
    proof = (
        "Too little CPU or memory for the request is what keeps the pod from the nodes that would "
        "do."
    )
    against = (
        "A volume, a spread rule or a scarcer device; more nodes that are tainted or out of "
        "service, if an empty node could hold it."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; with a change only if a smaller request is certain to do."""
        seen = unscheduled(case)
        if seen is None:
            return tuple(_refused(case))
        refusal = decisive(seen)
        if refusal is None or refusal.obstacle is not Obstacle.RESOURCE:
            return ()
        return _finding(seen, refusal.detail, refusal.count) if refusal.detail in _CAUSES else ()


def _finding(seen: Unscheduled, resource: str, nodes: int) -> tuple[Finding, ...]:
    beyond = seen.is_beyond_all(resource)
    change, because, ids = _change(seen, resource)
    asked = requested(seen.spec, resource)
    wants = f" of {_written(resource, asked)}" if asked else ""
    return (
        Finding(
            cause=_CAUSES[resource],
            object=seen.object,
            confidence=seen.sure(0.96 if beyond else 0.92 if seen.only else 0.88),
            summary=f"{seen.object} finds no node: the {resource} request{wants} has no place on"
            f" {nodes} nodes{', which could not hold it even if they were empty' * beyond}.",
            evidence=seen.proven_by(*(n.id for n in seen.nodes if n.offers(resource)), *ids),
            change=change,
            because=because,
        ),
    )


def _written(resource: str, size: object) -> str:
    return f"{size} cores" if resource == "cpu" else f"{int(str(size).split('.')[0]) // 2**20}Mi"


def _change(seen: Unscheduled, resource: str) -> _Change:
    found = list(_fields(seen, resource))
    if not found:
        return None, "No manifest that was seen declares the request.", ()
    path, value, _ = max(found, key=lambda field: amount(field[1]) or 0)
    commit = seen.case.last_change(seen.object, path, value)
    before = commit.field.before if commit else None
    if commit and (amount(before) or 0) > 0 and (amount(before) or 0) < (amount(value) or 0):
        because = f"{commit.told} raised it from {before}; this undoes that."
        return (
            FieldChange(object=seen.object, path=path, old=value, new=before),
            because,
            (commit.seen.id,),
        )
    return _smaller(seen, resource, path, value)


def _smaller(seen: Unscheduled, resource: str, path: FieldPath, value: Scalar) -> _Change:
    offers = [size for node in seen.nodes if (size := node.offers(resource)) is not None]
    asked = amount(value)
    if not asked or not seen.is_beyond_all(resource) or requested(seen.spec, resource) != asked:
        return None, "Whether the pod may ask for less or nodes are missing is not seen.", ()
    new = fitting(resource, asked, max(offers))
    if new is None:
        return None, "The request is too far from what any node holds to say what was meant.", ()
    because = f"{new} is the largest usual size that leaves room on the largest node."
    return FieldChange(object=seen.object, path=path, old=value, new=new), because, ()


def _fields(seen: Unscheduled, resource: str) -> Iterator[tuple[FieldPath, Scalar, Container]]:
    for one in seen.manifest.containers() if seen.manifest else ():
        for section in ("requests", "limits"):
            value = one.dig("resources", section, resource)
            if amount(value):
                yield (*one.path, "resources", section, resource), value, one
                break


def _refused(case: Case) -> Iterator[Finding]:
    for one in told(case, _REFUSED)[-1:]:
        resource = one.match["resource"]
        owner = owner_of(case, one.about)
        if owner:
            yield Finding(
                cause=_CAUSES[resource],
                object=owner,
                confidence=sure(case, one.about, 0.9),
                summary=f"The node that {owner} was given had too little {resource} left for it.",
                evidence=proof(case, one.id),
            )
