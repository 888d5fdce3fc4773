"""What a pod template asks of nodes: resources, labels, tolerations, distance from other pods."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_rca.evidence.node_facts import NodeFacts, amount

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def spec_of(one: Manifest | None) -> Mapping[str, Any]:
    """Return the pod spec of a workload or a pod; empty if there is none."""
    found = dig(one.template, "spec") if one else None
    return found if isinstance(found, Mapping) else {}


def containers_of(spec: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the containers of a pod spec that run side by side."""
    return Manifest(spec).items("containers")


def requested(spec: Mapping[str, Any], resource: str) -> Decimal:
    """Return what the pod requests in all; a limit without a request counts as one."""
    sizes = [_request(one, resource) for one in containers_of(spec)]
    first = [_request(one, resource) for one in Manifest(spec).items("initContainers")]
    return max([sum(sizes, Decimal(0)), *first])


def node_selector(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the node selector."""
    return texts(spec.get("nodeSelector"))


def affinity_terms(spec: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the terms of the required node affinity, one of which has to fit."""
    required = dig(spec, "affinity", "nodeAffinity", _REQUIRED)
    found = Manifest(required).items("nodeSelectorTerms") if isinstance(required, Mapping) else ()
    return tuple(term for term in found if term.get("matchExpressions"))


def anti_affinity(spec: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the terms of the required distance from other pods."""
    held = dig(spec, "affinity", "podAntiAffinity")
    return Manifest(held).items(_REQUIRED) if isinstance(held, Mapping) else ()


def fits_affinity(node: NodeFacts, terms: tuple[Mapping[str, Any], ...]) -> bool:
    """Whether a node satisfies one of the terms."""
    return any(
        all(_satisfies(node, rule) for rule in Manifest(term).items("matchExpressions"))
        for term in terms
    )


def tolerates(spec: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether the pod tolerates a taint."""
    if taint.get("effect") == "PreferNoSchedule":
        return True
    return any(_tolerates(one, taint) for one in Manifest(spec).items("tolerations"))


def untolerated(spec: Mapping[str, Any], node: NodeFacts) -> Iterator[Mapping[str, Any]]:
    """Yield the taints of a node that keep the pod away."""
    return (taint for taint in node.taints if not tolerates(spec, taint))


def _tolerates(one: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    effect, key = one.get("effect"), one.get("key")
    if effect and taint.get("effect") and effect != taint.get("effect"):
        return False
    if one.get("operator") == "Exists":
        return not key or key == taint.get("key")
    return key == taint.get("key") and str(one.get("value") or "") == str(taint.get("value") or "")


def _request(container: Mapping[str, Any], resource: str) -> Decimal:
    size = dig(container, "resources", "requests", resource)
    if size is None:
        size = dig(container, "resources", "limits", resource)
    return amount(size) or Decimal(0)


def _satisfies(node: NodeFacts, rule: Mapping[str, Any]) -> bool:
    has, operator = node.labels.get(str(rule.get("key"))), rule.get("operator")
    values = [str(value) for value in rule.get("values") or ()]
    if operator == "In":
        return has in values
    if operator == "NotIn":
        return has not in values
    return (has is not None) == (operator != "DoesNotExist")
