"""Rollouts that do not go on, with what keeps the new pods from being ready."""

from collections import Counter

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.known import Known, known

_KINDS = ("Deployment", "StatefulSet", "DaemonSet")
_EXCEEDED = "ProgressDeadlineExceeded"


class RolloutStuck:
    """The cluster itself says that a rollout makes no progress, or somebody paused it."""

    name = "rollout_stuck"
    needs = "The conditions, the pause and the replicas of workloads, and their events."
    proof = (
        "The cluster says that a rollout passed its deadline or was rolled back, or a paused "
        "workload has too few new replicas."
    )
    against = (
        "A paused workload whose replicas are all new; a rollout of another workload than the "
        "alert is about."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such workload; what blocks it is a finding of its own."""
        found = []
        for kind in _KINDS:
            for one in known(case, kind):
                if one.manifest.dig("spec", "paused") is True and _lags(one.manifest):
                    found.append(_paused(case, one))
                elif _is_late(one.manifest) or _said(case, one):
                    found.append(_late(case, one))
        return tuple(found)


def _is_late(manifest: Manifest) -> bool:
    conditions = manifest.items("status", "conditions")
    return any(one.get("reason") == _EXCEEDED for one in conditions)


def _said(case: Case, one: Known) -> bool:
    return bool(case.events(one.ref, reason=(_EXCEEDED, "DeploymentRollback")))


def _lags(manifest: Manifest) -> bool:
    wanted, updated = manifest.dig("spec", "replicas"), manifest.dig("status", "updatedReplicas")
    return isinstance(wanted, int) and (updated or 0) < wanted


def _paused(case: Case, one: Known) -> Finding:
    path = ("spec", "paused")
    undone = case.last_change(one.ref, path, True)
    return Finding(
        cause=CauseClass.ROLLOUT_STUCK,
        object=one.ref,
        confidence=0.92 if undone else 0.85,
        summary=f"{one.ref} is paused, so that its new version does not roll out.",
        evidence=(*one.ids, *((undone.seen.id,) if undone else ())),
        change=FieldChange(object=one.ref, path=path, old=True, new=False) if undone else None,
        because=f"{undone.told} paused it."
        if undone
        else "Somebody may have paused it on purpose.",
    )


def _late(case: Case, one: Known) -> Finding:
    waits = Counter(
        str(reason)
        for container in case.containers
        if (reason := dig(container.status, "state", "waiting", "reason"))
    )
    blocked = f"its new pods wait: {waits.most_common(1)[0][0]}" if waits else (
        "its new pods do not become ready"
    )  # fmt: skip
    ids = [*one.ids, *(pod.id for pod in case.pods[:2] if one.ref == case.workload)]
    return Finding(
        cause=CauseClass.ROLLOUT_STUCK,
        object=one.ref,
        confidence=0.8 if one.ref == case.workload else 0.62,
        summary=f"The rollout of {one.ref} makes no progress; {blocked}.",
        evidence=tuple(dict.fromkeys(ids)),
        because="What keeps the pods from being ready has to be put right.",
    )
