"""Whether an object belongs to what the alert is about, and which object people edit for it."""

from tocsin_contracts import EvidenceKind, ObjectRef
from tocsin_rca.evidence.case import Case

ELSEWHERE = 0.22
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "ReplicaSet")


def is_ours(case: Case, ref: ObjectRef | None) -> bool:
    """Whether it is the workload, what it runs, or what the alert names; True if none is known."""
    known = {one for one in (case.named, case.workload) if one}
    if ref is None or ref in known or ref in {pod.data.ref for pod in case.pods}:
        return True
    if case.workload is None:
        return case.named is None or case.named.kind in ("Node", "Namespace", "ResourceQuota")
    return _is_run_by(ref, case.workload)


def owner_of(case: Case, ref: ObjectRef | None) -> ObjectRef | None:
    """Return the object that people edit: the workload, another one that runs it, or itself."""
    if ref is None or (is_ours(case, ref) and case.workload):
        return case.workload or case.named or ref or alerted(case)
    workloads = [one.data.ref for kind in _WORKLOADS for one in case.manifests(kind)]
    running = [one for one in workloads if _is_run_by(ref, one)]
    return min(running, key=_outermost, default=ref)


def alerted(case: Case) -> ObjectRef | None:
    """Return what the alert calls its object, which the cluster may not know."""
    workload = case.alert.workload
    if workload is None:
        namespace = case.alert.labels.get("namespace", "")
        return ObjectRef(kind="Namespace", name=namespace) if namespace else None
    return workload.ref if workload.kind else workload.ref.model_copy(update={"kind": "Pod"})


def sure(case: Case, ref: ObjectRef | None, confidence: float) -> float:
    """Return the confidence, lowered where the sentence is about something else nearby."""
    return confidence if is_ours(case, ref) else round(confidence - ELSEWHERE, 2)


def alert_id(case: Case) -> tuple[str, ...]:
    """Return the id of the alert as evidence."""
    seen = (one.id for one in case.observations if one.evidence.kind is EvidenceKind.ALERT)
    return tuple(seen)[:1]


def alert_words(case: Case) -> str:
    """Return what the alert says: its title and its annotations."""
    alert = case.alert
    return " ".join((alert.title, *alert.annotations.values()))[:4000]


def proof(case: Case, *ids: str) -> tuple[str, ...]:
    """Return the ids, the workload's first if it was seen, each once."""
    workload = case.workload_manifest
    return tuple(dict.fromkeys([*([workload.id] if workload else []), *ids]))


def _is_run_by(ref: ObjectRef, workload: ObjectRef) -> bool:
    if workload.namespace not in ("", ref.namespace) and ref.namespace:
        return False
    return ref.name == workload.name or (
        ref.name.startswith(f"{workload.name}-") and ref.kind in ("Pod", "ReplicaSet", "Job")
    )


def _outermost(ref: ObjectRef) -> tuple[int, int]:
    return (_WORKLOADS.index(ref.kind), -len(ref.name))
