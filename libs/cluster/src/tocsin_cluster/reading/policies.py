"""The rules of a NetworkPolicy, from the sentences in which `kubectl describe` tells them."""

import re
from typing import Any

from tocsin_cluster.reading.sections import Sections

Raw = dict[str, Any]

_PORT = re.compile(r"(?P<port>\S+)/(?P<protocol>TCP|UDP|SCTP)")
_PEERS = {"From": "from", "To": "to"}
_EMPTY = "<none>"
_NOT = "Not affecting"


def policy(said: Sections) -> Raw:
    """Return the spec of a NetworkPolicy; without types of policy if a rule cannot be read."""
    spec = said.get("Spec").inner()
    selector = _selector(spec.text("PodSelector"))
    types = [word.strip() for word in spec.text("Policy Types").split(",") if word.strip()]
    rules = {
        direction: _rules(spec.get(f"Allowing {direction} traffic").lines)
        for direction in ("ingress", "egress")
    }
    if selector is None or None in rules.values():
        return {}
    return {"spec": {"podSelector": selector, "policyTypes": types} | rules}


def _rules(lines: list[str]) -> list[Raw] | None:
    """Rules are apart by a ruler; the first lines of one say its ports, the others its peers."""
    rules: list[Raw] = []
    current: Raw = {}
    for line in lines:
        key, _, value = line.strip().partition(":")
        value = value.strip()
        if set(line.strip()) == {"-"}:
            rules.append(current)
            current = {}
        elif line.strip().startswith((_EMPTY, _NOT)):
            return [*rules, current] if current else rules
        elif not _read(key, value, current):
            return None
    return [*rules, current] if lines else rules


def _read(key: str, value: str, rule: Raw) -> bool:
    """Take one line into a rule; False if nobody knows what it means."""
    if key == "To Port":
        return _port(value, rule)
    if key in _PEERS:
        rule.setdefault(_PEERS[key], [])
        if not value.startswith("<any>"):
            rule[_PEERS[key]].append({})
        return True
    peers: list[Raw] = rule.get("from") or rule.get("to") or []
    return bool(peers) and _peer(key, value, peers[-1])


def _port(value: str, rule: Raw) -> bool:
    found = _PORT.match(value)
    if found:
        number = int(found["port"]) if found["port"].isdigit() else found["port"]
        rule.setdefault("ports", []).append({"port": number, "protocol": found["protocol"]})
    return found is not None or value.startswith("<any>")


def _peer(key: str, value: str, peer: Raw) -> bool:
    if key in ("PodSelector", "NamespaceSelector"):
        selector = _selector(value)
        peer[key[0].lower() + key[1:]] = selector
        return selector is not None
    if key == "CIDR":
        peer["ipBlock"] = {**peer.get("ipBlock", {}), "cidr": value}
    elif key == "Except" and value:
        peer["ipBlock"] = {**peer.get("ipBlock", {}), "except": value.split(", ")}
    return key in ("IPBlock", "CIDR", "Except")


def _selector(text: str) -> Raw | None:
    """A selector of labels; None if it has expressions, which are written in many ways."""
    if not text or text.startswith(_EMPTY):
        return {}
    pairs = [word.partition("=") for word in text.split(",")]
    if any(not equals or " " in key.strip() for key, equals, _ in pairs):
        return None
    return {"matchLabels": {key.strip(): value.strip() for key, _, value in pairs}}
