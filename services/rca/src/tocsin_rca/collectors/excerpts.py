"""What of an object is shown: what a diagnosis needs, and no field that may hold a secret."""

from collections.abc import Mapping
from typing import Any

import yaml

from tocsin_cluster.manifest import Manifest

_CONTAINER = ("name", "image", "ports", "resources", "livenessProbe", "readinessProbe")
_CONTAINER_OF_POD = ("name", "image", "resources")
_SPEC = ("replicas", "selector", "type", "ports", "nodeName", "schedule", "suspend")
_STATUS = (
    "phase",
    "reason",
    "message",
    "replicas",
    "readyReplicas",
    "unavailableReplicas",
    "failed",
    "succeeded",
    "containerStatuses",
    "initContainerStatuses",
    "conditions",
)
_STATUS_OF_CONTAINER = ("name", "ready", "restartCount", "state", "lastState")
_ITEMS = {
    "containerStatuses": _STATUS_OF_CONTAINER,
    "initContainerStatuses": _STATUS_OF_CONTAINER,
    "conditions": ("type", "status", "reason", "message"),
}
_HIDDEN = frozenset({"httpHeaders", "exec", "containerID"})


def excerpt(manifest: Manifest) -> str:
    """Return an object as YAML: environment, commands, arguments and annotations are left out.

    What an owned object has from its owner, such as probes, is shown at the owner alone.
    """
    keys = _CONTAINER_OF_POD if manifest.owner else _CONTAINER
    containers = [_chosen(container.raw, keys) for container in manifest.containers()]
    shown = {
        "object": str(manifest.ref),
        "labels": manifest.labels,
        "status": _chosen(manifest.dig("status"), _STATUS),
        "spec": _chosen(manifest.dig("spec"), _SPEC),
        "containers": containers,
    }
    kept = {key: value for key, value in shown.items() if value}
    return yaml.dump(kept, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=100)


def _chosen(data: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        return {}
    return {key: _shown(data[key], _ITEMS.get(key)) for key in keys if data.get(key) is not None}


def _shown(data: Any, keys: tuple[str, ...] | None = None) -> Any:
    if isinstance(data, list):
        return [_chosen(item, keys) if keys else _shown(item) for item in data]
    if isinstance(data, Mapping):
        return {str(key): _shown(value) for key, value in data.items() if key not in _HIDDEN}
    return data
