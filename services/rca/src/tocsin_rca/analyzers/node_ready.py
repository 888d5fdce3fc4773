"""Nodes that are not ready, for whatever reason their condition gives."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, is_ours, owner_of, proof
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.placement import Obstacle
from tocsin_rca.evidence.statements import told
from tocsin_rca.evidence.unscheduled import unscheduled

_ALERT = re.compile(
    r"KubeNode(?:NotReady|Unreachable|ReadinessFlapping)|(?i:node.{0,60}(?:not ?ready|unready"
    r"|unreachable|has been unready|is down|lost))"
)
_EVENT = re.compile(
    r"status is now: NodeNotReady|Node is not ready|NodeStatusUnknown"
    r"|no nodes available to schedule pods"
)


class NodeReady:
    """A node that matters here is not ready, by its condition, its taints or the alert."""

    name = "node_ready"
    needs = "The conditions and events of nodes, where the pods run, and what the scheduler says."
    proof = (
        "The Ready condition of a node is not true, its taints say so, or an event or the alert "
        "reports it."
    )
    against = "The node is seen to be ready again, or it carries nothing that the alert is about."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; nodes are put right outside of the repository."""
        return tuple(_findings(case))[:1]


def _findings(case: Case) -> Iterator[Finding]:
    alerted = _ALERT.search(alert_words(case)) is not None
    under = {str(pod.data.dig("spec", "nodeName") or "") for pod in case.pods}
    for node in case.objects("Node"):
        ready = _ready(node.data)
        if ready and ready.get("status") != "True":
            near = alerted or node.data.ref == case.named or node.data.ref.name in under
            yield _not_ready(case, node, ready, 0.93 if near else 0.8)
    seen = unscheduled(case)
    refusal = decisive(seen) if seen else None
    if seen and refusal and refusal.obstacle is Obstacle.TROUBLE:
        said = f"{seen.object} finds no node: {refusal.count} have the taint {refusal.detail}"
        yield _finding(seen.object, seen.sure(0.88), said, seen.proven_by())
    for one in told(case, _EVENT):
        near = (one.about and one.about.kind == "Node") or is_ours(case, one.about)
        if near and _is_now(case):
            ref = owner_of(case, one.about) or ObjectRef(kind="Node", name="unknown")
            said = f"It was reported of {ref}: {one.statement.text[:200]}"
            yield _finding(ref, 0.85 if alerted else 0.7, said, proof(case, one.id))
    if alerted and _is_now(case):
        ref = case.named or ObjectRef(kind="Node", name=case.alert.labels.get("node") or "unknown")
        yield _finding(ref, 0.8, f"{ref} is not ready, as the alert says", alert_id(case))


def _is_now(case: Case) -> bool:
    """Whether nothing shows that the node is ready again."""
    named = case.object(case.named) if case.named and case.named.kind == "Node" else None
    seen = [ready for one in ((named,) if named else case.nodes) if (ready := _ready(one.data))]
    return not seen or any(ready.get("status") != "True" for ready in seen)


def _ready(node: Manifest) -> Mapping[str, Any] | None:
    found = (c for c in node.items("status", "conditions") if c.get("type") == "Ready")
    return next(found, None)


def _not_ready(
    case: Case, node: Observation[Manifest], ready: Mapping[str, Any], confidence: float
) -> Finding:
    message = str(ready.get("message") or ready.get("reason") or "no reason is given")[:300]
    said = f"{node.data.ref} is not ready: {message}"
    return _finding(node.data.ref, confidence, said, (node.id,))


def _finding(ref: ObjectRef, confidence: float, said: str, evidence: tuple[str, ...]) -> Finding:
    return Finding(
        cause=CauseClass.NODE_NOT_READY,
        object=ref,
        confidence=confidence,
        summary=f"{said.rstrip('.')}.",
        evidence=evidence,
    )
