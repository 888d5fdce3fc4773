"""Which fields the exact undo of a commit may change: each with all that is below it."""

from tocsin_contracts import Tree
from tocsin_gitops.bounds import Limits
from tocsin_gitops.field_tables import ANY, Fields


def proven(_old: Tree, _new: Tree, _: Limits) -> str:
    """What ran here before needs no other bound: the history of the repository is the proof."""
    return ""


def less(_old: Tree, new: Tree, _: Limits) -> str:
    """A power over the node is only ever taken back."""
    return "" if new in (None, False) else f"{new!r} gives the container more power than it has"


def powers_only(old: Tree, new: Tree, _: Limits) -> str:
    """What a commit added goes as a whole only if it gave nothing but such power."""
    only = isinstance(old, dict) and bool(old) and set(old) <= set(_POWERS) and new is None
    return "" if only else f"{old!r} holds more than what gives a container power over its node"


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_CONTAINER = ("image", "command", "args", "env", "ports", "resources", *_PROBES)
_POWERS = ("privileged", "allowPrivilegeEscalation")
_POD = (
    *("dnsPolicy", "dnsConfig", "nodeSelector", "affinity", "tolerations"),
    *("topologySpreadConstraints", "imagePullSecrets", "terminationGracePeriodSeconds"),
)
_NGINX = "nginx.ingress.kubernetes.io"
_ROUTING = ("rewrite-target", "use-regex", "backend-protocol", "proxy-body-size")
_CLAIM = ("resources", "storageClassName", "accessModes", "selector")

IN_CONTAINERS: Fields = {
    **{(field,): proven for field in _CONTAINER},
    **{("securityContext", power): less for power in _POWERS},
    ("securityContext",): powers_only,
}
IN_PODS: Fields = {**{(field,): proven for field in _POD}, ("hostNetwork",): less}
IN_OTHERS: Fields = {
    **{("PersistentVolumeClaim", "spec", field): proven for field in _CLAIM},
    ("StatefulSet", "spec", "volumeClaimTemplates", ANY, "spec"): proven,
    **{("Service", "spec", field): proven for field in ("ports", "selector")},
    ("Ingress", "spec"): proven,
    **{("Ingress", "metadata", "annotations", f"{_NGINX}/{one}"): proven for one in _ROUTING},
    ("HTTPRoute", "spec", "rules"): proven,
    ("HorizontalPodAutoscaler", "spec"): proven,
    ("PodDisruptionBudget", "spec"): proven,
    **{
        ("CronJob", "spec", field): proven
        for field in ("schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy")
    },
    ("CronJob", "spec", "jobTemplate", "spec", "activeDeadlineSeconds"): proven,
    ("CronJob", "spec", "jobTemplate", "spec", "backoffLimit"): proven,
    **{("Job", "spec", field): proven for field in ("activeDeadlineSeconds", "backoffLimit")},
    ("ConfigMap", "data"): proven,
    ("PrometheusRule", "spec", "groups"): proven,
    ("Kustomization", "images"): proven,
}
