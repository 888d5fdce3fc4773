"""Disruption budgets that allow no disruption at all, so that no node can be drained."""

import re
from collections.abc import Iterator
from typing import Any

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.selectors import selects
from tocsin_rca.evidence.statements import Told, logged, told

_REFUSED = re.compile(
    r"(?i)would violate the pod'?s? ?'?s disruption budget"
    r"|disruption budget (?P<name>[\w.-]{1,253}) needs \d{1,6} healthy pods"
)
_ALERT = re.compile(r"(?i)\bpdb|disruption.?budget|\bdrain|evict")


class DisruptionBudget:
    """Evictions are refused, or the alert is about them, and a budget leaves no room."""

    name = "disruption_budget"
    needs = (
        "The alert, refused evictions, the disruption budgets, and the workloads that they guard."
    )
    proof = (
        "A budget refused an eviction, or the alert is about evictions and a budget allows none "
        "though its pods are healthy."
    )
    against = (
        "Pods that are unhealthy anyway, for which a budget is there; a budget with room left, "
        "where no eviction was refused."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a budget is only relaxed by one pod, and only if all are healthy."""
        refused = (*told(case, _REFUSED), *logged(case, _REFUSED))
        alerted = _ALERT.search(alert_words(case)) is not None
        if not (refused or alerted):
            return ()
        tight = sorted(_tight(case), key=lambda one: not _concerns(case, one.data))
        if not tight:
            return _unseen(case, refused)
        return (_finding(case, tight[0], refused),)


def _tight(case: Case) -> Iterator[Observation[Manifest]]:
    """Yield the budgets that allow no disruption though nothing is unhealthy."""
    for seen in case.manifests("PodDisruptionBudget"):
        allowed = seen.data.dig("status", "disruptionsAllowed")
        declared = _relaxed(case, seen.data) is not None
        if (allowed == 0 or (allowed is None and declared)) and not _is_unhealthy(case, seen.data):
            yield seen


def _is_unhealthy(case: Case, budget: Manifest) -> bool:
    """Whether pods are missing anyway: then the budget does what it is for."""
    least, replicas = _declared(case, budget, "minAvailable"), _replicas(case, budget)
    if isinstance(least, int) and replicas is not None and least > replicas:
        return False
    now, want = (budget.dig("status", key) for key in ("currentHealthy", "expectedPods"))
    if isinstance(now, int) and isinstance(want, int):
        return now < want
    return any(not one.ready for one in case.containers)


def _declared(case: Case, budget: Manifest, *path: str) -> Any:
    """Return a field as the cluster shows it; a table leaves out what a file may say."""
    shown = budget.dig("spec", *path)
    file = case.declaration(budget.ref)
    return shown if shown is not None or file is None else file.data.manifest.dig("spec", *path)


def _concerns(case: Case, budget: Manifest) -> bool:
    guarded = _guarded(case, budget)
    return budget.ref == case.named or (guarded is not None and guarded.ref == case.workload)


def _guarded(case: Case, budget: Manifest) -> Manifest | None:
    """Return the one workload whose pods the budget selects."""
    chosen = texts(_declared(case, budget, "selector", "matchLabels"))
    found = [
        seen.data
        for kind in ("Deployment", "StatefulSet")
        for seen in case.manifests(kind)
        if seen.data.ref.namespace in ("", budget.ref.namespace)
        and selects(chosen, texts(dig(seen.data.template, "metadata", "labels")))
    ]
    return found[0] if len(found) == 1 else None


def _replicas(case: Case, budget: Manifest) -> int | None:
    guarded = _guarded(case, budget)
    found = guarded.dig("spec", "replicas") if guarded else None
    return found if isinstance(found, int) else None


def _finding(case: Case, seen: Observation[Manifest], refused: tuple[Told, ...]) -> Finding:
    relaxed = _relaxed(case, seen.data)
    change = None
    if relaxed:
        field, old, new = relaxed
        change = FieldChange(object=seen.data.ref, path=("spec", field), old=old, new=new)
    ids = (seen.id, *(one.id for one in refused[:3]), *alert_id(case))
    return Finding(
        cause=CauseClass.PDB_BLOCKS,
        object=seen.data.ref,
        confidence=0.94 if refused else 0.88,
        summary=f"{seen.data.ref} lets no pod be moved, though all are healthy.",
        evidence=tuple(dict.fromkeys(ids)),
        change=change,
        because="One pod at a time may then be moved."
        if change
        else "Which disruption the workload can bear is for a person to say.",
    )


def _relaxed(case: Case, budget: Manifest) -> tuple[str, Scalar, Scalar] | None:
    """Return the field that forbids every disruption, its value, and the next one that does not."""
    least, most = (_declared(case, budget, key) for key in ("minAvailable", "maxUnavailable"))
    if most in (0, "0", "0%"):
        return "maxUnavailable", most, 1
    replicas = _replicas(case, budget)
    if replicas is None or not isinstance(least, int):
        return None
    return ("minAvailable", least, replicas - 1) if least >= replicas > 1 else None


def _unseen(case: Case, refused: tuple[Told, ...]) -> tuple[Finding, ...]:
    if not refused:
        return ()
    name = next((one.match["name"] for one in refused if one.match["name"]), None)
    namespace = case.workload.namespace if case.workload else ""
    budget = ObjectRef(kind="PodDisruptionBudget", namespace=namespace, name=name) if name else None
    subject = budget or case.workload or case.named or refused[0].about
    if subject is None:
        return ()
    return (
        Finding(
            cause=CauseClass.PDB_BLOCKS,
            object=subject,
            confidence=0.88,
            summary=f"A disruption budget keeps pods from being moved: {refused[0].match.group()}.",
            evidence=tuple(dict.fromkeys(one.id for one in refused[:3])),
        ),
    )
