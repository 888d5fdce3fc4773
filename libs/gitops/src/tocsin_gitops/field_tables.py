"""Which fields of which kinds may change, and how: closed lists, with a bound for each."""

from collections.abc import Mapping

from tocsin_contracts import EditOp
from tocsin_gitops import additions, bounds, doors
from tocsin_gitops.additions import each
from tocsin_gitops.bounds import Bound

ANY = "*"
Fields = Mapping[tuple[str, ...], Bound]
ByOp = Mapping[EditOp, Fields]
_TEMPLATE = ("spec", "template", "spec")
MERGED = {
    "Pod": ("spec",),
    "Deployment": _TEMPLATE,
    "StatefulSet": _TEMPLATE,
    "DaemonSet": _TEMPLATE,
    "ReplicaSet": _TEMPLATE,
    "Job": _TEMPLATE,
    "CronJob": ("spec", "jobTemplate", *_TEMPLATE),
}
"""Where kinds of Kubernetes itself have their pods; patches merge the lists in there by name."""

PODS = {**MERGED, "Rollout": _TEMPLATE}
"""Where kinds have their pods. Patches replace the lists of one that kustomize does not know."""

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_TIMES: Fields = {(time,): bounds.count for time in additions.TIMES}
_PROBE_FIELDS: Fields = {
    ("httpGet", "port"): bounds.port,
    ("httpGet", "path"): bounds.http_path,
    ("httpGet", "scheme"): bounds.scheme,
    ("tcpSocket", "port"): bounds.port,
    ("grpc", "port"): bounds.port,
    **_TIMES,
}


def _probes(fields: Fields) -> Fields:
    return {(probe, *rest): bound for probe in _PROBES for rest, bound in fields.items()}


_ASKED = ("limits", "requests")
OF_CONTAINERS: ByOp = {
    EditOp.SET: {
        ("image",): bounds.image,
        ("env", ANY, "value"): bounds.text,
        ("ports", ANY, "containerPort"): bounds.port,
        **{("resources", one, "memory"): bounds.memory for one in _ASKED},
        **{("resources", one, "cpu"): bounds.cpu for one in _ASKED},
        **{("resources", one, "ephemeral-storage"): bounds.memory for one in _ASKED},
        **_probes(_PROBE_FIELDS),
        **{(field, ANY): bounds.start for field in ("command", "args")},
    },
    EditOp.INSERT: {
        ("resources", "limits", "memory"): additions.memory_limit,
        ("resources", "requests", "memory"): additions.memory,
        **{("resources", one, "cpu"): additions.cpu for one in _ASKED},
        ("startupProbe",): additions.startup_probe,
        **_probes({("httpGet", "scheme"): bounds.scheme}),
        ("securityContext", "allowPrivilegeEscalation"): bounds.off,
        ("volumeMounts",): each(additions.mount),
        **_probes(_TIMES),
    },
    EditOp.APPEND: {("volumeMounts",): additions.mount},
    EditOp.DELETE: {(probe,): additions.failing_probe for probe in _PROBES},
}
OF_CONTAINERS_SHOWN: ByOp = {
    EditOp.SET: {
        ("env", ANY, "name"): bounds.env_name,
        ("env", ANY, "valueFrom", "secretKeyRef", "name"): bounds.name,
        ("env", ANY, "valueFrom", "secretKeyRef", "key"): bounds.key,
        ("env", ANY, "valueFrom", "configMapKeyRef", "name"): bounds.name,
        ("env", ANY, "valueFrom", "configMapKeyRef", "key"): bounds.key,
        ("envFrom", ANY, "secretRef", "name"): bounds.name,
        ("envFrom", ANY, "configMapRef", "name"): bounds.name,
    },
    EditOp.INSERT: {("env",): each(additions.env)},
    EditOp.APPEND: {("env",): additions.env},
}
OF_PODS: ByOp = {
    EditOp.SET: {("dnsPolicy",): bounds.cluster_dns},
    EditOp.INSERT: {("volumes",): each(additions.empty_volume)},
    EditOp.APPEND: {("volumes",): additions.empty_volume},
    EditOp.DELETE: {("nodeSelector", ANY): additions.anything},
}
_NODES = (
    *("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
    "nodeSelectorTerms",
)
OF_PODS_SHOWN: ByOp = {
    EditOp.SET: {
        ("serviceAccountName",): bounds.alike,
        ("nodeSelector", ANY): bounds.label,
        (*_NODES, ANY, "matchExpressions", ANY, "values", ANY): bounds.label,
        ("volumes", ANY, "secret", "secretName"): bounds.name,
        ("volumes", ANY, "configMap", "name"): bounds.name,
        ("volumes", ANY, "persistentVolumeClaim", "claimName"): bounds.name,
        ("imagePullSecrets", ANY, "name"): bounds.alike,
    },
    EditOp.INSERT: {("tolerations",): each(additions.toleration)},
    EditOp.APPEND: {("tolerations",): additions.toleration},
}
_BACKEND = ("spec", "rules", ANY, "http", "paths", ANY, "backend", "service")
_ROUTE = ("spec", "rules", ANY, "backendRefs", ANY)
_CLAIMS = ("spec", "volumeClaimTemplates", ANY, "spec")
_STORAGE = ("resources", "requests", "storage")
_SELECTED = (ANY, "podSelector", "matchLabels", ANY)
OF_OTHERS: ByOp = {
    EditOp.SET: {
        ("Deployment", "spec", "replicas"): bounds.replicas,
        ("Deployment", "spec", "paused"): bounds.off,
        ("StatefulSet", "spec", "replicas"): bounds.replicas,
        ("StatefulSet", *_CLAIMS, *_STORAGE): bounds.storage,
        ("ReplicaSet", "spec", "replicas"): bounds.replicas,
        ("Rollout", "spec", "replicas"): bounds.replicas,
        ("Rollout", "spec", "paused"): bounds.off,
        ("CronJob", "spec", "suspend"): bounds.off,
        ("HorizontalPodAutoscaler", "spec", "minReplicas"): bounds.replicas,
        ("HorizontalPodAutoscaler", "spec", "maxReplicas"): bounds.most_replicas,
        ("PodDisruptionBudget", "spec", "minAvailable"): bounds.available,
        ("PodDisruptionBudget", "spec", "maxUnavailable"): bounds.unavailable,
        ("PersistentVolumeClaim", "spec", *_STORAGE): bounds.storage,
        ("Service", "spec", "selector", ANY): bounds.label,
        ("Service", "spec", "ports", ANY, "port"): bounds.port,
        ("Service", "spec", "ports", ANY, "targetPort"): bounds.port,
        ("Service", "spec", "ports", ANY, "protocol"): bounds.protocol,
        ("Ingress", *_BACKEND, "port", "number"): bounds.port,
        ("Ingress", *_BACKEND, "port", "name"): bounds.port,
        ("HTTPRoute", *_ROUTE, "port"): bounds.port,
        ("ConfigMap", "data", ANY): bounds.text,
        ("PrometheusRule", "spec", "groups", ANY, "rules", ANY, "expr"): bounds.expression,
        ("Kustomization", "images", ANY, "newTag"): bounds.tag,
        ("Kustomization", "images", ANY, "digest"): bounds.digest,
        ("Kustomization", "replicas", ANY, "count"): bounds.replicas,
    },
    EditOp.INSERT: {
        ("Service", "spec", "ports", ANY, "targetPort"): bounds.port,
        ("Service", "spec", "ports", ANY, "protocol"): bounds.protocol,
    },
    EditOp.DELETE: {("Service", "spec", "selector", ANY): additions.anything},
}
OF_OTHERS_SHOWN: ByOp = {
    EditOp.SET: {
        ("PersistentVolumeClaim", "spec", "storageClassName"): bounds.name,
        ("PersistentVolumeClaim", "spec", "accessModes", ANY): bounds.access_mode,
        ("PersistentVolumeClaim", "spec", "selector", "matchLabels", ANY): bounds.label,
        ("StatefulSet", *_CLAIMS, "storageClassName"): bounds.name,
        ("Ingress", *_BACKEND, "name"): bounds.name,
        ("Ingress", "spec", "ingressClassName"): bounds.name,
        ("HTTPRoute", *_ROUTE, "name"): bounds.name,
    },
    EditOp.INSERT: {("ConfigMap", "data", ANY): bounds.text},
}
NARROW: ByOp = {
    EditOp.SET: {
        ("NetworkPolicy", "spec", "ingress", ANY, "from", *_SELECTED): bounds.label,
        ("NetworkPolicy", "spec", "ingress", ANY, "ports", ANY, "port"): bounds.port,
        ("NetworkPolicy", "spec", "egress", ANY, "to", *_SELECTED): bounds.label,
        ("NetworkPolicy", "spec", "egress", ANY, "ports", ANY, "port"): bounds.port,
    },
    EditOp.INSERT: {
        ("NetworkPolicy", "spec", "ingress"): each(doors.ingress),
        ("NetworkPolicy", "spec", "egress"): each(doors.egress),
    },
    EditOp.APPEND: {
        ("NetworkPolicy", "spec", "ingress"): doors.ingress,
        ("NetworkPolicy", "spec", "egress"): doors.egress,
        ("NetworkPolicy", "spec", "ingress", ANY, "from"): doors.peer,
        ("NetworkPolicy", "spec", "egress", ANY, "to"): doors.peer,
    },
}
"""Fields of kinds of which nothing else may ever change."""
