"""What a NetworkPolicy may be opened for: named pods at named ports, and name servers."""

import re

from tocsin_contracts import Tree
from tocsin_gitops import bounds
from tocsin_gitops.bounds import Limits

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_DNS_PORT = 53
_LABEL = re.compile(r"[\w./-]{1,317}")


def egress(_old: Tree, new: Tree, limits: Limits) -> str:
    """A rule that lets pods reach some pods at some ports."""
    return _rule(new, "to", limits)


def ingress(_old: Tree, new: Tree, limits: Limits) -> str:
    """A rule that lets some pods in at some ports."""
    return _rule(new, "from", limits)


def peer(_old: Tree, new: Tree, limits: Limits) -> str:
    """Pods, by their labels."""
    return _peer(new, limits, by_name=True)


def _rule(new: Tree, peers: str, limits: Limits) -> str:
    if not isinstance(new, dict) or new.keys() != {peers, "ports"}:
        return f"{new!r} is no rule with peers and ports"
    ports, named = new["ports"], new[peers]
    if not isinstance(ports, list) or not ports or not isinstance(named, list) or not named:
        return f"{new!r} would open more than some ports for some pods"
    wrong = [_port(one, limits) for one in ports]
    dns = peers == "to" and all(isinstance(p, dict) and p.get("port") == _DNS_PORT for p in ports)
    wrong += [_peer(one, limits, by_name=not dns) for one in named]
    return next((why for why in wrong if why), "")


def _port(one: Tree, limits: Limits) -> str:
    if not isinstance(one, dict) or not one.keys() <= {"protocol", "port"} or "port" not in one:
        return f"{one!r} is no single port"
    if one.get("protocol", "TCP") not in _PROTOCOLS:
        return f"{one!r} names no protocol"
    return bounds.port(None, one["port"], limits)


def _peer(one: Tree, limits: Limits, *, by_name: bool) -> str:
    """Addresses are never opened; all pods are only for what all may ask, which is names."""
    if (
        not isinstance(one, dict)
        or not one
        or not one.keys() <= {"podSelector", "namespaceSelector"}
    ):
        return f"{one!r} does not choose pods"
    chosen = [_labels(selector, limits) for selector in one.values()]
    if None in chosen or (by_name and not _labels(one.get("podSelector"), limits)):
        return f"{one!r} does not choose pods by their labels"
    return ""


def _labels(selector: Tree, limits: Limits) -> int | None:
    """Return how many labels a selector asks for; None if it is more than labels."""
    if not isinstance(selector, dict) or not selector.keys() <= {"matchLabels"}:
        return None
    labels = selector.get("matchLabels", {})
    if not isinstance(labels, dict):
        return None
    good = all(
        _LABEL.fullmatch(key) and not bounds.label(None, value, limits)
        for key, value in labels.items()
    )
    return len(labels) if good else None
