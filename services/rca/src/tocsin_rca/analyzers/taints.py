"""Pods that no node takes because of its taints, among them the one of a cordon."""

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.node_facts import NodeFacts
from tocsin_rca.evidence.placement import Obstacle, Refusal, kind_of_taint
from tocsin_rca.evidence.pod_needs import untolerated
from tocsin_rca.evidence.unscheduled import Unscheduled, unscheduled

_CAUSES = {
    Obstacle.CORDON: CauseClass.NODE_CORDONED,
    Obstacle.TAINT: CauseClass.TAINT_NOT_TOLERATED,
    Obstacle.CONTROL_PLANE: CauseClass.TAINT_NOT_TOLERATED,
}


class Taints:
    """The nodes that fit are closed to the pod: by a taint, or to every new pod by hand."""

    name = "taints"
    needs = (
        "The words of the scheduler, the tolerations of the pod, and the taints and cordons of "
        "nodes."
    )
    proof = "A taint or a cordon is what keeps the pod from the nodes that would do."
    against = (
        "A volume, a shortage, labels or a spread rule that decides instead; no scheduler that "
        "says it."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a toleration is for a person to add, so there is no change."""
        seen = unscheduled(case)
        refusal = decisive(seen) if seen else None
        if seen is None or refusal is None or refusal.obstacle not in _CAUSES:
            return ()
        closed = tuple(node for node in seen.nodes if node.unschedulable)
        if _is_cordon(seen, refusal, closed):
            return (_cordoned(seen, refusal, closed),)
        return (_tainted(seen, refusal),)


def _is_cordon(seen: Unscheduled, refusal: Refusal, closed: tuple[NodeFacts, ...]) -> bool:
    """A taint that is not named is that of the cordon if all nodes in question are cordoned."""
    if refusal.obstacle is not Obstacle.TAINT or refusal.detail:
        return refusal.obstacle is Obstacle.CORDON
    return len(closed) >= refusal.count and not any(
        kind_of_taint(str(taint.get("key"))) is Obstacle.TAINT
        for node in closed
        for taint in untolerated(seen.spec, node)
    )


def _cordoned(seen: Unscheduled, refusal: Refusal, closed: tuple[NodeFacts, ...]) -> Finding:
    names = ", ".join(node.name for node in closed) or f"{refusal.count} nodes"
    return Finding(
        cause=CauseClass.NODE_CORDONED,
        object=seen.object,
        confidence=seen.sure(0.95 if seen.only or closed else 0.85),
        summary=f"{seen.object} finds no node: {names} closed to new pods by hand.",
        evidence=seen.proven_by(*(node.id for node in closed)),
        because="Whether a node may be opened again is known to whoever closed it.",
    )


def _tainted(seen: Unscheduled, refusal: Refusal) -> Finding:
    nodes = tuple(node for node in seen.nodes if any(untolerated(seen.spec, node)))
    known = {str(taint.get("key")) for node in nodes for taint in untolerated(seen.spec, node)}
    taint = refusal.detail or ", ".join(sorted(known)) or "of a name that was not seen"
    return Finding(
        cause=CauseClass.TAINT_NOT_TOLERATED,
        object=seen.object,
        confidence=seen.sure(0.95 if seen.only else 0.88),
        summary=f"{seen.object} does not tolerate the taint {taint} of {refusal.count} nodes,"
        " and no other node takes it.",
        evidence=seen.proven_by(*(node.id for node in nodes)),
        because="Whether the pods belong on such nodes is for a person to say.",
    )
