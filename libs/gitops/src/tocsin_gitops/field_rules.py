"""Which fields of which kinds may change: a closed list, with a bound for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tocsin_contracts import FieldPath
from tocsin_gitops import bounds
from tocsin_gitops.bounds import Bound

ANY = "*"
_TEMPLATE = ("spec", "template", "spec")
_PODS = {
    "Pod": ("spec",),
    "Deployment": _TEMPLATE,
    "StatefulSet": _TEMPLATE,
    "DaemonSet": _TEMPLATE,
    "ReplicaSet": _TEMPLATE,
    "Job": _TEMPLATE,
    "CronJob": ("spec", "jobTemplate", *_TEMPLATE),
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE_FIELDS: dict[tuple[str, ...], Bound] = {
    ("httpGet", "port"): bounds.port,
    ("httpGet", "path"): bounds.http_path,
    ("tcpSocket", "port"): bounds.port,
    ("grpc", "port"): bounds.port,
    ("initialDelaySeconds",): bounds.count,
    ("periodSeconds",): bounds.count,
    ("timeoutSeconds",): bounds.count,
    ("successThreshold",): bounds.count,
    ("failureThreshold",): bounds.count,
}
_CONTAINER_FIELDS: dict[tuple[str, ...], Bound] = {
    ("image",): bounds.image,
    ("env", ANY, "value"): bounds.text,
    ("ports", ANY, "containerPort"): bounds.port,
    ("resources", "limits", "memory"): bounds.memory,
    ("resources", "requests", "memory"): bounds.memory,
    ("resources", "limits", "cpu"): bounds.cpu,
    ("resources", "requests", "cpu"): bounds.cpu,
    **{(probe, *rest): bound for probe in _PROBES for rest, bound in _PROBE_FIELDS.items()},
}
_OTHER_FIELDS: dict[tuple[str, ...], Bound] = {
    ("Deployment", "spec", "replicas"): bounds.replicas,
    ("StatefulSet", "spec", "replicas"): bounds.replicas,
    ("ReplicaSet", "spec", "replicas"): bounds.replicas,
    ("HorizontalPodAutoscaler", "spec", "minReplicas"): bounds.replicas,
    ("HorizontalPodAutoscaler", "spec", "maxReplicas"): bounds.replicas,
    ("Service", "spec", "selector", ANY): bounds.label,
    ("Service", "spec", "ports", ANY, "port"): bounds.port,
    ("Service", "spec", "ports", ANY, "targetPort"): bounds.port,
    ("ConfigMap", "data", ANY): bounds.text,
    ("Kustomization", "images", ANY, "newTag"): bounds.tag,
    ("Kustomization", "images", ANY, "digest"): bounds.digest,
    ("Kustomization", "replicas", ANY, "count"): bounds.replicas,
}


@dataclass(frozen=True, slots=True)
class FieldRule:
    """One field of one kind; a step of the path may be `*` for any."""

    kind: str
    path: tuple[str, ...]
    bound: Bound

    def covers(self, kind: str, path: FieldPath) -> bool:
        """Whether this is the rule for that field."""
        if kind != self.kind or len(path) != len(self.path):
            return False
        pairs = zip(self.path, path, strict=True)
        return all(mine in (ANY, step) for mine, step in pairs)

    def __str__(self) -> str:
        """Name the rule for the policy's version."""
        return f"{self.kind}:{'/'.join(self.path)}:{self.bound.__name__}"


def find(kind: str, path: FieldPath) -> FieldRule | None:
    """Return the rule for a field, or None if it may not change."""
    return next((rule for rule in RULES if rule.covers(kind, path)), None)


def _rules() -> Iterator[FieldRule]:
    containers = product(_PODS.items(), ("containers", "initContainers"))
    for (kind, pod), containers_key in containers:
        for field, bound in _CONTAINER_FIELDS.items():
            yield FieldRule(kind, (*pod, containers_key, ANY, *field), bound)
    for (kind, *path), bound in _OTHER_FIELDS.items():
        yield FieldRule(kind, tuple(path), bound)


RULES = tuple(_rules())
