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
_KEYS = ("ConfigMap", "Secret")
"""Kinds of which only the keys are shown."""

_SECTIONS = {
    "Endpoints": ("subsets",),
    "EndpointSlice": ("endpoints", "ports"),
    "ServiceAccount": ("imagePullSecrets",),
    "Role": ("rules",),
    "RoleBinding": ("roleRef", "subjects"),
    "StorageClass": ("provisioner", "allowVolumeExpansion", "volumeBindingMode", "reclaimPolicy"),
    "PriorityClass": ("value", "globalDefault", "preemptionPolicy"),
} | dict.fromkeys(
    (
        "ResourceQuota",
        "LimitRange",
        "HorizontalPodAutoscaler",
        "PodDisruptionBudget",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "NetworkPolicy",
        "Ingress",
        "IngressClass",
        "PrometheusRule",
        "Namespace",
    ),
    ("spec", "status"),
)
"""Kinds of which whole sections are shown: they hold what a diagnosis needs, and no secret."""

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
    shown |= _own(manifest)
    kept = {key: value for key, value in shown.items() if value}
    return yaml.dump(kept, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=100)


def _own(manifest: Manifest) -> dict[str, Any]:
    kind = manifest.ref.kind
    if kind in _KEYS:
        sections = (manifest.raw.get(name) for name in ("data", "binaryData", "stringData"))
        return {"keys": [str(key) for one in sections if isinstance(one, Mapping) for key in one]}
    return {name: _shown(manifest.raw.get(name)) for name in _SECTIONS.get(kind, ())}


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
