"""The pod that waits for a node: what the scheduler says of it, what it needs, what there is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence import inference, placement
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import is_ours, owner_of, proof, sure
from tocsin_rca.evidence.node_facts import NodeFacts, nodes
from tocsin_rca.evidence.placement import Refusal
from tocsin_rca.evidence.pod_needs import (
    affinity_terms,
    fits_affinity,
    node_selector,
    requested,
    spec_of,
)
from tocsin_rca.evidence.statements import Statement, Told, statements, told

_REASONS = ("FailedScheduling", "Unschedulable", "NotTriggerScaleUp", "")

_LONGEST = 2000
_UNSAID = 0.12
"""What it costs that no scheduler said so."""


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
    def only(self) -> bool:
        """Whether only one sort of reason stands in the way, control planes aside."""
        return len({one.obstacle for one in placement.counting(self.refusals)}) == 1

    def fits(self, node: NodeFacts) -> bool:
        """Whether a node carries the labels that the pod wants."""
        terms = affinity_terms(self.spec)
        return node.carries(node_selector(self.spec)) and (not terms or fits_affinity(node, terms))

    @property
    def fits_none(self) -> bool:
        """Whether labels of nodes were seen, and no node has those that the pod wants."""
        labelled = [node for node in self.nodes if node.labels]
        wants = bool(node_selector(self.spec) or affinity_terms(self.spec))
        return bool(labelled) and wants and not any(map(self.fits, labelled))

    def is_beyond_all(self, resource: str) -> bool:
        """Whether no node that was seen could hold the request even if it were empty."""
        offers = [size for node in self.nodes if (size := node.offers(resource)) is not None]
        return bool(offers) and requested(self.spec, resource) > max(offers)

    def sure(self, confidence: float) -> float:
        """Return the confidence, lowered for a pod that is only nearby, or without a word of it."""
        silent = self.statement.reason == inference.INFERRED
        surest = round(confidence - _UNSAID, 2) if silent else confidence
        return sure(self.case, self.statement.about, surest)

    def proven_by(self, *others: str) -> tuple[str, ...]:
        """Return the ids of the workload, of the sentence and of other evidence."""
        return proof(self.case, self.statement.id, *others)


def unscheduled(case: Case) -> Unscheduled | None:
    """Return the pod that waits for a node: of the workload, or else of another one."""
    said = [one for one in statements(case) if one.reason in _REASONS and _waits(case, one)]
    known = [(one, found) for one in said if (found := placement.read(one.text))]
    if not known:
        pasted = [one for one in told(case, placement.SENTENCE) if one.about is None]
        known = [(one.statement, found) for one in pasted if (found := placement.read(_whole(one)))]
    if not known:
        return _inferred(case)
    known.sort(key=lambda pair: (is_ours(case, pair[0].about), pair[0].reason in _REASONS[:2]))
    return _of(case, *known[-1])


def _whole(one: Told) -> str:
    """Return the sentence of a scheduler, of which somebody may have pasted several in a row."""
    text = one.match.string
    start = text.rfind("\n", 0, one.match.start()) + 1
    end = text.find("nodes are available: ", one.match.end())
    kept = text[start : end if end >= 0 else len(text)][:_LONGEST]
    return " ".join(kept.partition("\n\n")[0].split())


def _of(case: Case, statement: Statement, refusals: tuple[Refusal, ...]) -> Unscheduled | None:
    ref = owner_of(case, statement.about)
    if ref is None:
        return None
    shown = case.manifest(ref) or (case.manifest(statement.about) if statement.about else None)
    return Unscheduled(case, statement, refusals, ref, shown.data if shown else None, nodes(case))


def _inferred(case: Case) -> Unscheduled | None:
    statement = inference.silent(case)
    seen = _of(case, statement, ()) if statement else None
    found = inference.refusals(seen.spec, seen.nodes) if seen else ()
    return replace(seen, refusals=found) if seen and found else None


def _waits(case: Case, one: Statement) -> bool:
    pod = case.object(one.about) if one.about and one.about.kind == "Pod" else None
    if pod is None:
        return True
    phase = pod.data.dig("status", "phase")
    return not pod.data.dig("spec", "nodeName") and phase in (None, "Pending", "")
