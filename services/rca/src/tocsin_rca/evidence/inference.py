"""What a scheduler would say of a pod that waits without a word: from the nodes alone."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import is_ours
from tocsin_rca.evidence.node_facts import NodeFacts
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.placement import Obstacle, Refusal, kind_of_taint
from tocsin_rca.evidence.pod_needs import (
    affinity_terms,
    fits_affinity,
    node_selector,
    untolerated,
)
from tocsin_rca.evidence.statements import Statement

INFERRED = "Inferred"


def silent(case: Case) -> Statement | None:
    """Return a sentence without words about what has no node: a pod, or a whole DaemonSet."""
    workload = case.workload_manifest
    if workload and workload.data.dig("status", "desiredNumberScheduled") == 0:
        return Statement(workload.id, workload.data.ref, INFERRED, "")
    ours = (pod for pod in case.objects("Pod") if is_ours(case, pod.data.ref))
    waiting = next((pod for pod in (*case.pods, *ours) if _waits(pod)), None)
    return Statement(waiting.id, waiting.data.ref, INFERRED, "") if waiting else None


def refusals(spec: Mapping[str, Any], nodes: tuple[NodeFacts, ...]) -> tuple[Refusal, ...]:
    """Return why each node refuses the pod; nothing if one is not known to."""
    found = [next(_obstacles(spec, node), None) for node in nodes]
    if not found or None in found:
        return ()
    counted = Counter(one for one in found if one)
    return tuple(Refusal(obstacle, n, detail) for (obstacle, detail), n in counted.items())


def _waits(pod: Observation[Manifest]) -> bool:
    known = pod.data.dig("spec", "nodeName") or pod.data.items("status", "containerStatuses")
    return pod.data.dig("status", "phase") == "Pending" and not known


def _obstacles(spec: Mapping[str, Any], node: NodeFacts) -> Iterator[tuple[Obstacle, str]]:
    if node.unschedulable:
        yield Obstacle.CORDON, ""
    for taint in untolerated(spec, node):
        said = f"{taint.get('key')}: {taint.get('value') or ''}".strip()
        yield kind_of_taint(said), said.removesuffix(":")
    terms = affinity_terms(spec)
    suits = node.carries(node_selector(spec)) and (not terms or fits_affinity(node, terms))
    if node.labels and not suits:
        yield Obstacle.LABELS, ""
