"""An object or an event in a few words, for whoever looks through many of them."""

from collections.abc import Mapping
from typing import Any

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest, dig
from tocsin_kit.untrusted import line

_COUNTS = ("replicas", "readyReplicas", "unavailableReplicas", "succeeded", "failed")


def row(manifest: Manifest) -> dict[str, Any]:
    """Return the name and the labels of an object, and how it is, as far as it says so."""
    counts = {key: manifest.dig("status", key) for key in _COUNTS}
    shown = {
        "name": manifest.ref.name,
        "labels": manifest.labels,
        "phase": manifest.dig("status", "phase"),
        "replicas": manifest.dig("spec", "replicas"),
        "status": {key: count for key, count in counts.items() if count is not None},
        "containers": [_container(one) for one in manifest.items("status", "containerStatuses")],
        "conditions": [
            f"{one.get('type')}={one.get('status')}"
            for one in manifest.items("status", "conditions")
        ],
    }
    return {key: value for key, value in shown.items() if value not in (None, {}, [])}


def said(event: ClusterEvent) -> dict[str, Any]:
    """Return an event; one that was seen once has no count."""
    shown = {
        "type": event.type,
        "reason": event.reason,
        "message": line(event.message, 500),
        "container": event.container,
        "count": event.count if event.count > 1 else None,
        "last_seen": event.last_seen,
    }
    return {key: value for key, value in shown.items() if value}


def _container(status: Mapping[str, Any]) -> str:
    states = dig(status, "state") or {}
    state = next(iter(states), "in an unknown state")
    reason = dig(states, state, "reason")
    ready = "ready" if status.get("ready") is True else "not ready"
    restarts = f"{status.get('restartCount') or 0} restarts"
    told = f"{state} ({reason})" if reason else state
    return f"{status.get('name')}: {ready}, {told}, {restarts}"
