"""The rule that a NetworkPolicy lacks for one connection, and no more than for that."""

from dataclasses import replace

from tocsin_cluster.manifest import texts
from tocsin_contracts import FieldChange, Tree
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.known import Known, running
from tocsin_rca.evidence.policies import Direction, Door, End
from tocsin_rca.evidence.remedy import appended, inserted
from tocsin_rca.evidence.selectors import selects

_NAMESPACE = "kubernetes.io/metadata.name"
_OF_CONTROLLERS = (
    *("pod-template-hash", "controller-revision-hash", "pod-template-generation"),
    *("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "job-name"),
    *("controller-uid", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"),
)
"""Labels that change with every pod or rollout."""

_DNS_PORT = 53


def admit(policy: Known, direction: Direction, peer: End | None, door: Door) -> FieldChange | None:
    """Return the change that lets just this connection through; None if it cannot be named.

    Name servers are let in by their namespace: what their pods are called differs.
    """
    rule = _rule(policy, direction, peer, door)
    if rule is None or not policy.manifest.whole:
        return None
    path = ("spec", direction.rules)
    held = policy.manifest.dig(*path)
    if held is None:
        return inserted(policy.ref, path, [rule])
    return appended(policy.ref, path, held, rule) if isinstance(held, list) else None


def steady(case: Case, peer: End | None) -> End | None:
    """Return the pods by what chooses them alone: a release may change other labels of theirs."""
    every = running(case, peer.namespace) if peer else ()
    for runs in every:
        chosen = texts(runs.known.manifest.dig("spec", "selector", "matchLabels"))
        if peer and runs.labels == peer.labels and chosen and selects(chosen, runs.labels):
            alone = not any(selects(chosen, other.labels) for other in every if other != runs)
            return replace(peer, labels=chosen) if alone else peer
    return peer


def _rule(policy: Known, direction: Direction, peer: End | None, door: Door) -> Tree:
    if peer is None or peer.labels is None or door.port is None or not peer.namespace:
        return None
    names = door.port == _DNS_PORT and direction is Direction.EGRESS
    own = {} if names else peer.labels
    labels: dict[str, Tree] = {k: v for k, v in own.items() if k not in _OF_CONTROLLERS}
    if not labels and not names:
        return None
    chosen: dict[str, Tree] = {"podSelector": {"matchLabels": labels}} if labels else {}
    if peer.namespace != policy.ref.namespace:
        chosen["namespaceSelector"] = {"matchLabels": {_NAMESPACE: peer.namespace}}
    protocols = ("UDP", "TCP") if names else (door.protocol,)
    ports: list[Tree] = [{"protocol": one, "port": door.port} for one in protocols]
    return {direction.peers: [chosen], "ports": ports}
