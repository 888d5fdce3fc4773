"""What NetworkPolicies let through, as far as labels, namespaces and ports tell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tocsin_cluster.manifest import dig, texts
from tocsin_rca.evidence.known import Known

Labels = Mapping[str, str]
_EVERYWHERE = ("0.0.0.0/0", "::/0")


class Direction(Enum):
    """Which way a policy looks from the pods that it selects."""

    INGRESS = "Ingress"
    EGRESS = "Egress"

    @property
    def rules(self) -> str:
        """The field that holds what is let through."""
        return self.value.lower()

    @property
    def peers(self) -> str:
        """The field of a rule that says who is on the other side."""
        return "from" if self is Direction.INGRESS else "to"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a connection: what is known of its pods. Labels are None where they are not."""

    namespace: str
    labels: Labels | None
    namespace_labels: Labels | None = None


@dataclass(frozen=True, slots=True)
class Door:
    """A port of the called end, with the name that its container gives it."""

    port: int | None
    protocol: str = "TCP"
    name: str = ""


def isolates(policy: Known, end: End, direction: Direction) -> bool:
    """Whether a policy selects pods and restricts their traffic in a direction."""
    spec = policy.manifest.dig("spec")
    if not isinstance(spec, Mapping) or end.labels is None:
        return False
    if policy.ref.namespace != end.namespace or direction not in directions(policy):
        return False
    return matches(spec.get("podSelector"), end.labels)


def directions(policy: Known) -> tuple[Direction, ...]:
    """Return what a policy restricts; one that does not say restricts ingress."""
    spec = policy.manifest.dig("spec")
    named = spec.get("policyTypes") if isinstance(spec, Mapping) else None
    if isinstance(named, list):
        return tuple(d for d in Direction if d.value in named)
    has_egress = isinstance(spec, Mapping) and "egress" in spec
    return (Direction.INGRESS, Direction.EGRESS) if has_egress else (Direction.INGRESS,)


def presumed(policies: Iterable[Known], namespace: str, name: str) -> Labels | None:
    """Return the labels that a policy selects by, if pods of that name surely carry them.

    That is a label with the name itself, or one that the name begins with; None if none is.
    """
    for policy in policies:
        wanted = texts(policy.manifest.dig("spec", "podSelector", "matchLabels"))
        fits = [value for value in wanted.values() if name == value or name.startswith(f"{value}-")]
        if policy.ref.namespace == namespace and len(wanted) == 1 and fits:
            return wanted
    return None


def allows(policy: Known, direction: Direction, peer: End | None, door: Door) -> bool | None:
    """Whether some rule lets a connection through; None if that cannot be told.

    A peer of None is somewhere outside the cluster, such as a database elsewhere.
    """
    rules = policy.manifest.items("spec", direction.rules)
    answers = [_lets(rule, direction, policy, peer, door) for rule in rules]
    if True in answers:
        return True
    return None if None in answers else False


def allows_port(rule: Mapping[str, Any], door: Door) -> bool | None:
    """Whether a rule lets a port through, whoever asks; None if a name stands in between."""
    ports = rule.get("ports")
    if not ports:
        return True
    answers = [_is_door(port, door) for port in ports if isinstance(port, Mapping)]
    if True in answers:
        return True
    return None if None in answers else False


def matches(selector: Any, labels: Labels) -> bool:
    """Whether a label selector selects; an empty one selects all."""
    if not isinstance(selector, Mapping):
        return True
    wanted = texts(selector.get("matchLabels"))
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(one, labels) for one in _mappings(selector.get("matchExpressions")))


def is_deny_all(policy: Known, direction: Direction) -> bool:
    """Whether a policy lets nothing through in a direction."""
    return direction in directions(policy) and not policy.manifest.items("spec", direction.rules)


def _lets(
    rule: Mapping[str, Any], direction: Direction, policy: Known, peer: End | None, door: Door
) -> bool | None:
    port = allows_port(rule, door)
    peers = _mappings(rule.get(direction.peers))
    if port is False:
        return False
    if not peers:
        return port
    answers = [_is_peer(one, policy.ref.namespace, peer) for one in peers]
    if True in answers:
        return port
    return None if None in answers else False


def _is_peer(one: Mapping[str, Any], own: str, peer: End | None) -> bool | None:
    if "ipBlock" in one:
        return _is_in_block(one["ipBlock"], peer)
    if peer is None:
        return False
    place = _is_namespace(one.get("namespaceSelector"), own, peer)
    selector = one.get("podSelector")
    if place is False or not selector:
        return place
    if peer.labels is None:
        return None
    return place if matches(selector, peer.labels) else False


def _is_in_block(block: Any, peer: End | None) -> bool | None:
    """The addresses of pods are not among blocks that people write down, but for all of them."""
    if dig(block, "cidr") in _EVERYWHERE and not dig(block, "except"):
        return True
    return None if peer is None else False


def _is_namespace(selector: Any, own: str, peer: End) -> bool | None:
    if selector is None:
        return peer.namespace == own
    known = {"kubernetes.io/metadata.name": peer.namespace, **(peer.namespace_labels or {})}
    if matches(selector, known):
        return True
    return False if peer.namespace_labels is not None or _is_by_name(selector) else None


def _is_by_name(selector: Mapping[str, Any]) -> bool:
    return set(texts(selector.get("matchLabels"))) == {"kubernetes.io/metadata.name"}


def _is_door(raw: Mapping[str, Any], door: Door) -> bool | None:
    if str(raw.get("protocol") or "TCP") != door.protocol:
        return False
    port, end = raw.get("port"), raw.get("endPort")
    if port is None:
        return True
    if isinstance(port, int) and isinstance(end, int) and door.port is not None:
        return port <= door.port <= end
    if isinstance(port, str) and not port.isdigit():
        return port == door.name if door.name else None
    return None if door.port is None else str(port) == str(door.port)


def _holds(expression: Mapping[str, Any], labels: Labels) -> bool:
    key, values = str(expression.get("key")), expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False


def _mappings(data: Any) -> Iterable[Mapping[str, Any]]:
    return [one for one in data if isinstance(one, Mapping)] if isinstance(data, list) else []
