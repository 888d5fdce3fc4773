"""What is known of nodes: from their objects, and from what probes printed about them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import Scalar
from tocsin_gitops.quantity import NotAQuantity, parse
from tocsin_rca.evidence.case import Case

_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node; labels and taints may be unknown, then they are empty."""

    id: str
    name: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, Any], ...]
    unschedulable: bool
    allocatable: Mapping[str, Any]

    def offers(self, resource: str) -> Decimal | None:
        """Return how much of a resource the node can give in all; None if it is not known."""
        return amount(self.allocatable.get(resource))

    def carries(self, wanted: Mapping[str, str]) -> bool:
        """Whether the node carries all of the labels."""
        return all(self.labels.get(key) == value for key, value in wanted.items())


def nodes(case: Case) -> tuple[NodeFacts, ...]:
    """Return the nodes that were seen, each once."""
    found = {fact.name: fact for fact in _checked(case)}
    found |= {one.data.ref.name: _facts(one.id, one.data) for one in case.objects("Node")}
    return tuple(found.values())


def amount(quantity: Scalar) -> Decimal | None:
    """Return a quantity as a number; None for anything else."""
    try:
        return parse(quantity)
    except NotAQuantity:
        return None


def _facts(id_: str, node: Manifest) -> NodeFacts:
    sizes = node.dig("status", "allocatable") or node.dig("status", "capacity")
    return NodeFacts(
        id=id_,
        name=node.ref.name,
        labels=node.labels,
        taints=node.items("spec", "taints"),
        unschedulable=node.dig("spec", "unschedulable") is True,
        allocatable=sizes if isinstance(sizes, Mapping) else {},
    )


def _checked(case: Case) -> Iterator[NodeFacts]:
    for seen in case.checks:
        for raw in _mappings(seen.data.data, _DEEPEST):
            name = raw.get("name") or dig(raw, "metadata", "name")
            labels = raw.get("labels") or dig(raw, "metadata", "labels")
            taints = raw.get("taints") or dig(raw, "spec", "taints")
            if isinstance(name, str) and "node" in seen.data.command.text.lower():
                yield NodeFacts(
                    id=seen.id,
                    name=name,
                    labels=texts(labels),
                    taints=tuple(_taint(t) for t in taints) if isinstance(taints, list) else (),
                    unschedulable=bool(raw.get("unschedulable")),
                    allocatable=texts(raw.get("allocatable")),
                )


def _taint(raw: Any) -> Mapping[str, Any]:
    if isinstance(raw, Mapping):
        return raw
    named, _, effect = str(raw).rpartition(":")
    key, _, value = named.partition("=")
    return {"key": key, "value": value, "effect": effect}


def _mappings(data: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if not depth:
        return
    if isinstance(data, Mapping):
        yield data
    children = data.values() if isinstance(data, Mapping) else data
    for child in children if isinstance(data, Mapping | list) else ():
        yield from _mappings(child, depth - 1)
