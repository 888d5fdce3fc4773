"""Which of the reasons that a scheduler gives decides: nodes it refused late were the nearest."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_rca.evidence.placement import Obstacle, Refusal, counting
from tocsin_rca.evidence.pod_needs import affinity_terms, node_selector, requested
from tocsin_rca.evidence.unscheduled import Unscheduled

_LATE = (Obstacle.SPREAD, Obstacle.ANTI_AFFINITY, Obstacle.POD_AFFINITY)
_DISTURBED = (Obstacle.CORDON, Obstacle.TROUBLE)
_MEMORY_OF_A_CORE = Decimal(4 * 2**30)
"""What nodes usually have; it tells which of two requests is the odd one."""


def decisive(seen: Unscheduled) -> Refusal | None:
    """Return what keeps the pod from the nodes that would fit; None if its volumes do."""
    refusals = counting(seen.refusals)
    if any(one.obstacle is Obstacle.VOLUME for one in refusals):
        return None
    disturbed, late = _most(refusals, *_DISTURBED), _most(refusals, *_LATE)
    short = _scarcest(seen, refusals) or _most(refusals, Obstacle.PODS, Obstacle.PORTS)
    taint, labels = _most(refusals, Obstacle.TAINT), _most(refusals, Obstacle.LABELS)
    if late:
        return _of_the_spread(seen, late, short, disturbed)
    if short:
        return _of_the_size(seen, short, taint, disturbed)
    if labels and (seen.fits_none or not disturbed):
        return taint if taint and _is_meant(seen, taint) else labels
    return max(filter(None, (disturbed, taint)), key=_count, default=_most(refusals, *Obstacle))


def _most(refusals: Iterable[Refusal], *obstacles: Obstacle) -> Refusal | None:
    return max((r for r in refusals if r.obstacle in obstacles), key=_count, default=None)


def _count(refusal: Refusal) -> int:
    return refusal.count


def _of_the_spread(
    seen: Unscheduled, late: Refusal, short: Refusal | None, disturbed: Refusal | None
) -> Refusal:
    """If there would be a place for every replica, it is the node out of service that is missed."""
    replicas = seen.manifest.dig("spec", "replicas") if seen.manifest else None
    places = sum(one.count for one in counting(seen.refusals))
    if disturbed and isinstance(replicas, int) and replicas <= places:
        return disturbed
    return short if short and short.count > late.count else late


def _of_the_size(
    seen: Unscheduled, short: Refusal, taint: Refusal | None, disturbed: Refusal | None
) -> Refusal:
    if seen.is_beyond_all(short.detail):
        return short
    others = [one for one in (disturbed, taint) if one and one.count > short.count]
    return max(others, key=_count, default=short)


def _scarcest(seen: Unscheduled, refusals: Iterable[Refusal]) -> Refusal | None:
    found = [one for one in refusals if one.obstacle is Obstacle.RESOURCE]
    most = max((one.count for one in found), default=0)
    return max(
        (one for one in found if 2 * one.count >= most),
        key=lambda one: (seen.is_beyond_all(one.detail), _oddness(seen, one.detail), one.count),
        default=None,
    )


def _oddness(seen: Unscheduled, resource: str) -> Decimal:
    """Devices are scarcer than cores; of cores and memory it is the one that is asked for more."""
    if resource not in ("cpu", "memory", "ephemeral-storage"):
        return Decimal("Infinity")
    size = requested(seen.spec, resource)
    return size if resource == "cpu" else size / _MEMORY_OF_A_CORE


def _is_meant(seen: Unscheduled, taint: Refusal) -> bool:
    """Whether the pod wants the very nodes that carry the taint."""
    if any(node.labels for node in seen.nodes):
        return any(seen.fits(node) for node in seen.nodes if node.taints)
    key, _, value = taint.detail.partition(":")
    selector, terms = node_selector(seen.spec), affinity_terms(seen.spec)
    wanted = {*selector, *selector.values(), *(str(r.get("key")) for t in terms for r in _rules(t))}
    return bool(wanted & ({key.strip(), value.strip()} - {""}))


def _rules(term: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return Manifest(term).items("matchExpressions")
