"""Replicas that cannot be kept as far apart, or spread as evenly, as their pod template demands."""

from tocsin_cluster.manifest import dig, texts
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.placement import Obstacle, Refusal, counting
from tocsin_rca.evidence.pod_needs import anti_affinity
from tocsin_rca.evidence.selectors import selects
from tocsin_rca.evidence.unscheduled import Unscheduled, unscheduled

_CAUSES = {
    Obstacle.ANTI_AFFINITY: CauseClass.POD_ANTI_AFFINITY_CONFLICT,
    Obstacle.POD_AFFINITY: CauseClass.POD_ANTI_AFFINITY_CONFLICT,
    Obstacle.SPREAD: CauseClass.TOPOLOGY_SPREAD_UNSATISFIABLE,
}
_SAID = {
    Obstacle.ANTI_AFFINITY: "each of them runs a pod that this one must keep away from",
    Obstacle.POD_AFFINITY: "none of them runs the pods that this one must be near",
    Obstacle.SPREAD: "one more pod there would break the topology spread constraint",
}
_HOST = "kubernetes.io/hostname"


class PodSpread:
    """More replicas than places that are far enough apart."""

    name = "pod_spread"
    needs = "The words of the scheduler, the anti-affinity of the pod, the number of replicas."
    proof = (
        "The scheduler names affinity between pods, anti-affinity or topology spread as what "
        "keeps the pod from the nearest nodes."
    )
    against = (
        "A shortage on more nodes, a volume, or a node out of service that would have given every "
        "replica a place."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; replicas are only ever lowered to what has a place already."""
        seen = unscheduled(case)
        refusal = decisive(seen) if seen else None
        if seen is None or refusal is None or refusal.obstacle not in _CAUSES:
            return ()
        change, because, ids = _change(seen, refusal)
        surest = 0.7 if refusal.obstacle is Obstacle.POD_AFFINITY else 0.93
        return (
            Finding(
                cause=_CAUSES[refusal.obstacle],
                object=seen.object,
                confidence=seen.sure(surest if seen.only or change else min(surest, 0.88)),
                summary=f"{seen.object} has no place for all replicas: of {refusal.count} nodes,"
                f" {_SAID[refusal.obstacle]}.",
                evidence=seen.proven_by(*ids),
                change=change,
                because=because,
            ),
        )


def _change(seen: Unscheduled, refusal: Refusal) -> tuple[FieldChange | None, str, tuple[str, ...]]:
    replicas = seen.manifest.dig("spec", "replicas") if seen.manifest else None
    places = _places(seen, refusal)
    if not isinstance(replicas, int) or not places or replicas <= places or _is_scaled(seen):
        return None, "Whether to ask for less distance is for a person to say.", ()
    path = ("spec", "replicas")
    commit = seen.case.last_change(seen.object, path, replicas)
    before = commit.field.before if commit else None
    if commit and isinstance(before, int) and 1 <= before <= places:
        because = f"{commit.told} raised it from {before}; this undoes that."
        change = FieldChange(object=seen.object, path=path, old=replicas, new=before)
        return change, because, (commit.seen.id,)
    because = f"Only {places} nodes take one pod each; the others never ran."
    return FieldChange(object=seen.object, path=path, old=replicas, new=places), because, ()


def _places(seen: Unscheduled, refusal: Refusal) -> int:
    """Return how many nodes hold one replica each: 0 where it cannot be told."""
    if refusal.obstacle is not Obstacle.ANTI_AFFINITY or not seen.only:
        return 0
    if sum(one.count for one in counting(seen.refusals)) != refusal.count:
        return 0
    labels = texts(dig(seen.manifest.template, "metadata", "labels")) if seen.manifest else {}
    own = [
        term
        for term in anti_affinity(seen.spec)
        if term.get("topologyKey") == _HOST
        and selects(texts(dig(term, "labelSelector", "matchLabels")), labels)
    ]
    return refusal.count if own else 0


def _is_scaled(seen: Unscheduled) -> bool:
    """Whether an autoscaler decides about the replicas."""
    return any(
        scaler.data.dig("spec", "scaleTargetRef", "name") == seen.object.name
        for scaler in seen.case.manifests("HorizontalPodAutoscaler")
    )
