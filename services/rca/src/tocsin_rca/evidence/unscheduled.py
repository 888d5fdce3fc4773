"""Pods that wait for a node: which of the scheduler's reasons decides, and whom it concerns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence import placement
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import is_ours, owner_of, proof, sure
from tocsin_rca.evidence.node_facts import NodeFacts, nodes
from tocsin_rca.evidence.placement import Obstacle, Refusal
from tocsin_rca.evidence.pod_needs import (
    affinity_terms,
    fits_affinity,
    node_selector,
    requested,
    spec_of,
)
from tocsin_rca.evidence.statements import Statement, statements, told

_REASONS = ("FailedScheduling", "Unschedulable", "NotTriggerScaleUp", "")
_LATE = (Obstacle.SPREAD, Obstacle.ANTI_AFFINITY, Obstacle.POD_AFFINITY)
_DISTURBED = (Obstacle.CORDON, Obstacle.TROUBLE)
_CORE_IN_BYTES = Decimal(4 * 2**30)
"""Nodes have about so much memory for a core; says which of two requests is the odd one."""


@dataclass(frozen=True, slots=True)
class Unscheduled:
    """A pod without a node, the scheduler's sentence, and what it needs."""

    case: Case
    statement: Statement
    refusals: tuple[Refusal, ...]
    object: ObjectRef
    manifest: Manifest | None
    nodes: tuple[NodeFacts, ...]

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod spec as people declared it, or as the pod shows it; empty if neither is known."""
        return spec_of(self.manifest)

    @property
    def decisive(self) -> Refusal | None:
        """What keeps the pod from the nodes that would fit otherwise; None if volumes do."""
        return _decisive(self)

    @property
    def only(self) -> bool:
        """Whether nothing but the decisive reason stands in the way, control planes aside."""
        kinds = {one.obstacle for one in _counting(self.refusals)}
        return len(kinds) == 1

    def sure(self, confidence: float) -> float:
        """Return the confidence, lowered for a pod that is only nearby."""
        return sure(self.case, self.statement.about, confidence)

    def proven_by(self, *others: str) -> tuple[str, ...]:
        """Return the ids of the workload, of the sentence and of other evidence."""
        return proof(self.case, self.statement.id, *others)


def unscheduled(case: Case) -> Unscheduled | None:
    """Return the pod that waits for a node: of the workload, or else of another one."""
    said = [one for one in statements(case) if one.reason in _REASONS and _waits(case, one)]
    known = [(one, found) for one in said if (found := placement.read(one.text))]
    if not known:
        lines = (one.statement for one in told(case, placement.SENTENCE) if one.about is None)
        known = [(one, found) for one in lines if (found := placement.read(one.text))]
    if not known:
        return None
    known.sort(key=lambda pair: (is_ours(case, pair[0].about), pair[0].reason in _REASONS[:2]))
    statement, refusals = known[-1]
    ref = owner_of(case, statement.about)
    if ref is None:
        return None
    manifest = case.manifest(ref) or (case.manifest(statement.about) if statement.about else None)
    return Unscheduled(case, statement, refusals, ref, manifest, nodes(case))


def _waits(case: Case, one: Statement) -> bool:
    pod = case.object(one.about) if one.about and one.about.kind == "Pod" else None
    if pod is None:
        return True
    phase = pod.data.dig("status", "phase")
    return not pod.data.dig("spec", "nodeName") and phase in (None, "Pending", "")


def _counting(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """Leave out what is normal: that nobody tolerates a control plane, if more was said."""
    given = tuple(refusals)
    rest = tuple(one for one in given if one.obstacle is not Obstacle.CONTROL_PLANE)
    named = tuple(one for one in rest if one.obstacle is not Obstacle.TAINT or one.detail)
    return named or rest or given


def _decisive(seen: Unscheduled) -> Refusal | None:
    refusals = _counting(seen.refusals)
    if any(one.obstacle is Obstacle.VOLUME for one in refusals):
        return None
    by = {obstacle: _of(refusals, obstacle) for obstacle in Obstacle}
    disturbed = max((by[o] for o in _DISTURBED if by[o]), key=_count, default=None)
    late = max((by[o] for o in _LATE if by[o]), key=_count, default=None)
    short = _scarcest(seen, refusals) or by[Obstacle.PODS] or by[Obstacle.PORTS]
    if late:
        lost = disturbed if _would_do(seen, disturbed) else None
        return lost or (short if short and short.count > late.count else late)
    if short:
        return _between(seen, short, by[Obstacle.TAINT], disturbed)
    if disturbed and not (by[Obstacle.LABELS] and _fits_none(seen)):
        return max((disturbed, by[Obstacle.TAINT] or disturbed), key=_count)
    taint, labels = by[Obstacle.TAINT], by[Obstacle.LABELS]
    if taint and labels:
        return taint if _is_meant(seen, taint) else labels
    return taint or labels or by[Obstacle.CONTROL_PLANE]


def _of(refusals: Iterable[Refusal], obstacle: Obstacle) -> Refusal | None:
    found = [one for one in refusals if one.obstacle is obstacle]
    return max(found, key=_count, default=None)


def _count(refusal: Refusal) -> int:
    return refusal.count


def _would_do(seen: Unscheduled, disturbed: Refusal | None) -> bool:
    """Whether there would be room for every replica, were no node closed or in trouble."""
    replicas = seen.manifest.dig("spec", "replicas") if seen.manifest else None
    places = sum(one.count for one in _counting(seen.refusals))
    return bool(disturbed) and isinstance(replicas, int) and replicas <= places


def _between(
    seen: Unscheduled, short: Refusal, taint: Refusal | None, disturbed: Refusal | None
) -> Refusal:
    if is_beyond_all(seen, short.detail):
        return short
    others = [one for one in (disturbed, taint) if one and one.count > short.count]
    return max(others, key=_count, default=short)


def is_beyond_all(seen: Unscheduled, resource: str) -> bool:
    """Whether no node that was seen could hold the request even if it were empty."""
    offers = [size for node in seen.nodes if (size := node.offers(resource)) is not None]
    return bool(offers) and requested(seen.spec, resource) > max(offers)


def _scarcest(seen: Unscheduled, refusals: Iterable[Refusal]) -> Refusal | None:
    found = [one for one in refusals if one.obstacle is Obstacle.RESOURCE]
    most = max((one.count for one in found), default=0)
    return max(
        (one for one in found if 2 * one.count >= most),
        key=lambda one: (is_beyond_all(seen, one.detail), _oddness(seen, one.detail), one.count),
        default=None,
    )


def _oddness(seen: Unscheduled, resource: str) -> Decimal:
    """Devices are scarcer than cores; of cores and memory it is the one that is asked for more."""
    if resource not in ("cpu", "memory", "ephemeral-storage"):
        return Decimal("Infinity")
    size = requested(seen.spec, resource)
    return size if resource == "cpu" else size / _CORE_IN_BYTES


def _fits_none(seen: Unscheduled) -> bool:
    """Whether labels of nodes were seen, and no node has those that the pod wants."""
    labelled = [node for node in seen.nodes if node.labels]
    selector, terms = node_selector(seen.spec), affinity_terms(seen.spec)
    if not labelled or not (selector or terms):
        return False
    return not any(_fits(node, selector, terms) for node in labelled)


def _fits(
    node: NodeFacts, selector: Mapping[str, str], terms: tuple[Mapping[str, Any], ...]
) -> bool:
    return node.carries(selector) and (not terms or fits_affinity(node, terms))


def _is_meant(seen: Unscheduled, taint: Refusal) -> bool:
    """Whether the pod wants the very nodes that carry the taint."""
    selector, terms = node_selector(seen.spec), affinity_terms(seen.spec)
    labelled = [node for node in seen.nodes if node.labels]
    if labelled and (selector or terms):
        return any(_fits(node, selector, terms) for node in labelled if node.taints)
    key, _, value = taint.detail.partition(":")
    wanted = {*selector, *selector.values()}
    return bool(wanted & {key.strip(), value.strip()} - {""})
