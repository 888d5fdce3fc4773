"""Objects as the API shapes them: what a key can never hold is left out before anybody reads it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tocsin_cluster.manifest import POD_TEMPLATE, Manifest

_LISTS = frozenset(
    {
        *("containers", "initContainers", "env", "envFrom", "ports", "volumes", "volumeMounts"),
        *("containerStatuses", "initContainerStatuses", "conditions", "ownerReferences"),
        *("imagePullSecrets", "volumeClaimTemplates", "httpHeaders", "tolerations", "taints"),
        *("subsets", "addresses", "notReadyAddresses", "ingress", "egress", "rules", "paths"),
        *("subjects", "matchExpressions"),
    }
)
"""Keys of lists of mappings."""

_MAPPINGS = frozenset(
    {
        *("metadata", "spec", "labels", "annotations", "matchLabels", "nodeSelector"),
        *("state", "lastState", "running", "waiting", "terminated", "securityContext"),
        *("valueFrom", "configMapKeyRef", "secretKeyRef", "configMapRef", "secretRef"),
        *("livenessProbe", "readinessProbe", "startupProbe", "httpGet", "tcpSocket"),
        *("persistentVolumeClaim", "scaleTargetRef", "roleRef", "podSelector"),
        *("namespaceSelector", "jobTemplate"),
    }
)
_NUMBERS = frozenset({"restartCount", "exitCode", "containerPort", "hostPort"})
_WORDS = frozenset({"name", "namespace", "kind", "image", "reason", "mountPath", "claimName"})

_KINDS = frozenset(
    {
        *POD_TEMPLATE,
        *("Service", "Endpoints", "Ingress", "NetworkPolicy", "HorizontalPodAutoscaler", "Node"),
        *("PersistentVolumeClaim", "PersistentVolume", "Role", "RoleBinding", "ServiceAccount"),
        "PodDisruptionBudget",
    }
)
"""Whose shape is the API's own."""

_OF_PEOPLE = frozenset(
    {
        *("labels", "annotations", "matchLabels", "nodeSelector", "selector", "data", "limits"),
        *("requests", "capacity"),
    }
)
"""Mappings whose keys people choose."""


def shaped(manifest: Manifest) -> Manifest:
    """Return an object without what contradicts its key; what is not known is kept as it is."""
    if str(manifest.raw.get("kind")) not in _KINDS:
        return manifest
    raw = _shaped(manifest.raw)
    if not isinstance(raw.get("status"), Mapping):  # of a condition it is a word
        raw.pop("status", None)
    return replace(manifest, raw=raw)


def _shaped(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {
            key: value if key in _OF_PEOPLE else _shaped(_of(key, value))
            for key, value in data.items()
            if value is None or _fits(key, value)
        }
    return [_shaped(one) for one in data] if isinstance(data, list) else data


def _of(key: Any, value: Any) -> Any:
    if key in _LISTS and isinstance(value, list):
        return [one for one in value if isinstance(one, Mapping)]
    return value


def _fits(key: Any, value: Any) -> bool:
    if key in _LISTS:
        return isinstance(value, list)
    if key in _MAPPINGS:
        return isinstance(value, Mapping)
    if key in _NUMBERS:
        return isinstance(value, int) and not isinstance(value, bool)
    return key not in _WORDS or isinstance(value, str | int | float)
