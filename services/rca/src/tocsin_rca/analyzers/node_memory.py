"""Nodes that ran short of memory because a pod without a limit takes it."""

import re
from dataclasses import dataclass

from tocsin_cluster.manifest import dig
from tocsin_cluster.port import Usage
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.bounding import bounded
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, is_ours, owner_of
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.pod_needs import containers_of, spec_of
from tocsin_rca.evidence.pressure import pressed_nodes, short_of_memory
from tocsin_rca.evidence.remedy import with_remedy

_ALERT = re.compile(r"(?i)node.{0,40}memory.{0,20}pressure|memorypressure|node.{0,30}out of memory")
_MANY = 3
"""Of how many owners, the hungriest first, one without a limit is to blame."""


@dataclass(frozen=True, slots=True)
class _Hog:
    """What takes the memory, with the evidence for it."""

    object: ObjectRef
    ids: tuple[str, ...]
    unbounded: bool
    measured: bool


class NodeMemory:
    """Pods are evicted for memory, or the kernel kills processes of the whole node."""

    name = "node_memory"
    needs = (
        "Evictions and kills that nodes report, their conditions, memory in use, and the pods' "
        "limits."
    )
    proof = "A node is short of memory, and a pod without a memory limit takes much of it."
    against = "Only the alert says so, or what takes the memory has a limit or was not measured."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; what takes the memory gets a limit, if it was measured."""
        said, nodes = short_of_memory(case), pressed_nodes(case, "MemoryPressure")
        alerted = _ALERT.search(alert_words(case))
        if not (said or nodes or alerted):
            return ()
        victim = max(said, key=lambda one: is_ours(case, one.about), default=None)
        hog = _hungriest(case) or _evicted(case, victim.about if victim else None)
        subject = hog.object if hog else _node(case, [ref.ref for _, ref in nodes])
        ids = (
            *(victim.id for victim in said[-2:]),
            *(id_ for id_, _ in nodes),
            *(hog.ids if hog else ()),
            *(alert_id(case) if alerted else ()),
        )
        why = "has no memory limit" if hog and hog.unbounded else "takes the most of it"
        finding = Finding(
            cause=CauseClass.NODE_MEMORY_PRESSURE_UNBOUNDED_POD,
            object=subject,
            confidence=_confidence(hog, proven=bool(said or nodes)),
            summary=f"A node ran short of memory: {subject} {why}."
            if hog
            else f"{subject} is short of memory; what takes it was not seen.",
            evidence=tuple(dict.fromkeys(ids)),
            because="How much the pod needs was not measured over time.",
        )
        proven = hog and hog.unbounded and hog.measured and (said or nodes)
        return (with_remedy(finding, bounded(case, hog.object) if hog and proven else None),)


def _confidence(hog: _Hog | None, *, proven: bool) -> float:
    if hog and hog.unbounded:
        return 0.93 if proven and hog.measured else 0.86
    return 0.8 if proven else 0.7


def _hungriest(case: Case) -> _Hog | None:
    """Return the owner of the pods that take the most memory, if they have no limit."""
    takes: dict[ObjectRef, list[Observation[Usage]]] = {}
    for seen in case.usage:
        if seen.data.about.kind == "Pod" and seen.data.memory and not seen.data.container:
            owner = owner_of(case, seen.data.about) or seen.data.about
            takes.setdefault(owner, []).append(seen)
    ranked = sorted(takes, key=lambda ref: -max(one.data.memory or 0 for one in takes[ref]))
    for ref in ranked[:_MANY]:
        if _is_unbounded(case, ref):
            return _Hog(ref, tuple(one.id for one in takes[ref]), True, True)
    return _Hog(ranked[0], tuple(o.id for o in takes[ranked[0]]), False, True) if ranked else None


def _evicted(case: Case, about: ObjectRef | None) -> _Hog | None:
    owner = owner_of(case, about) if about and about.kind != "Node" else case.workload
    if owner is None or owner.kind == "Node":
        return None
    return _Hog(owner, (), _is_unbounded(case, owner), False)


def _is_unbounded(case: Case, ref: ObjectRef) -> bool:
    seen = case.manifest(ref)
    containers = containers_of(spec_of(seen.data)) if seen else ()
    return any(dig(one, "resources", "limits", "memory") is None for one in containers)


def _node(case: Case, nodes: list[ObjectRef]) -> ObjectRef:
    named = case.named or ObjectRef(kind="Node", name=case.alert.labels.get("node") or "unknown")
    return next(iter(nodes), named)
