"""Rules of a NetworkPolicy that miss a connection by one value only."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.manifest import dig, texts
from tocsin_contracts import FieldChange, FieldPath, ObjectRef, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.known import Known, running
from tocsin_rca.evidence.policies import Direction, Door, End, allows_port


@dataclass(frozen=True, slots=True)
class Opening:
    """A field of a policy that would let a connection through with another value."""

    path: FieldPath
    old: Scalar
    new: Scalar
    because: str

    def change(self, policy: ObjectRef) -> FieldChange:
        """Return the change of the policy."""
        return FieldChange(object=policy, path=self.path, old=self.old, new=self.new)


def only_opening(
    case: Case, policies: Iterable[Known], direction: Direction, peer: End | None, door: Door
) -> tuple[Known, Opening] | None:
    """Return the one field of one policy that would let it through and shut out nobody."""
    every = [
        (policy, one)
        for policy in policies
        for one in opening(policy, direction, peer, door)
        if not _is_used(case, policy, one)
    ]
    return every[0] if len(every) == 1 else None


def opening(policy: Known, direction: Direction, peer: End | None, door: Door) -> Iterator[Opening]:
    """Yield such fields: a label of the peers, where the port fits; a port, where they fit."""
    if peer is None or peer.labels is None:
        return
    for at, rule in enumerate(policy.manifest.items("spec", direction.rules)):
        base = ("spec", direction.rules, at)
        peers = rule.get(direction.peers)
        if allows_port(rule, door):
            yield from _labels(peers, (*base, direction.peers), peer)
        elif door.port is not None and _are_meant(peers, policy.ref.namespace, peer):
            yield from _ports(rule.get("ports"), (*base, "ports"), door)


def _labels(peers: Any, base: FieldPath, peer: End) -> Iterator[Opening]:
    for at, one in enumerate(peers if isinstance(peers, list) else ()):
        wanted = texts(dig(one, "podSelector", "matchLabels"))
        carried = peer.labels or {}
        wrong = [key for key, value in wanted.items() if carried.get(key) != value]
        fits = len(wrong) == 1 and wrong[0] in carried and "matchExpressions" not in one
        if fits and "namespaceSelector" not in one and "ipBlock" not in one:
            yield Opening(
                (*base, at, "podSelector", "matchLabels", wrong[0]),
                wanted[wrong[0]],
                carried[wrong[0]],
                f"The rule is for {wrong[0]}={wanted[wrong[0]]}; the pods that need it carry"
                f" {wrong[0]}={carried[wrong[0]]}.",
            )


def _ports(ports: Any, base: FieldPath, door: Door) -> Iterator[Opening]:
    named = [one for one in ports if isinstance(one, dict)] if isinstance(ports, list) else []
    if len(named) != 1 or not isinstance(named[0].get("port"), int) or "endPort" in named[0]:
        return
    if str(named[0].get("protocol") or "TCP") == door.protocol:
        because = f"The rule is for port {named[0]['port']}; the pods listen on {door.port}."
        yield Opening((*base, 0, "port"), named[0]["port"], door.port, because)


def _are_meant(peers: Any, namespace: str, peer: End) -> bool:
    """Whether a rule is for pods like these, so that only its port is in question."""
    return any(
        dig(one, "podSelector", "matchLabels")
        and "namespaceSelector" not in one
        and peer.namespace == namespace
        and not [
            key
            for key, value in texts(dig(one, "podSelector", "matchLabels")).items()
            if (peer.labels or {}).get(key) != value
        ]
        for one in (peers if isinstance(peers, list) else ())
    )


def _is_used(case: Case, policy: Known, one: Opening) -> bool:
    """Whether something that runs has the label, or the port, that the rule is for now."""
    every = running(case, policy.ref.namespace)
    if one.path[-1] == "port":
        return any(
            raw.get("containerPort") == one.old
            for runs in every
            for container in runs.containers
            for raw in container.items("ports")
        )
    return any(runs.labels.get(str(one.path[-1])) == one.old for runs in every)
