"""What kubectl calls the kinds of objects, in all its spellings, and which have a namespace."""

_NAMESPACED = """
Pod po
Deployment deploy
ReplicaSet rs
StatefulSet sts
DaemonSet ds
ReplicationController rc
Job
CronJob cj
Service svc
Endpoints ep endpoint
EndpointSlice
ConfigMap cm
Secret
ServiceAccount sa
Role
RoleBinding
ResourceQuota quota
LimitRange limits
HorizontalPodAutoscaler hpa
VerticalPodAutoscaler vpa
PodDisruptionBudget pdb
PersistentVolumeClaim pvc
NetworkPolicy netpol
Ingress ing
Event ev
Lease
ControllerRevision
PodMetrics
PrometheusRule promrule
ServiceMonitor smon
PodMonitor pmon
Application app
ApplicationSet appset
AppProject
Kustomization ks
HelmRelease hr
HTTPRoute
Gateway gtw
VirtualService vs
DestinationRule dr
Rollout ro
Certificate cert
CertificateRequest cr
ScaledObject so
"""
_CLUSTER_WIDE = """
Node no
Namespace ns
PersistentVolume pv
StorageClass sc
ClusterRole
ClusterRoleBinding
IngressClass
GatewayClass gc
PriorityClass pc
RuntimeClass
CSIDriver
CSINode
VolumeAttachment
NodeMetrics
CustomResourceDefinition crd
ValidatingWebhookConfiguration
MutatingWebhookConfiguration
APIService
ComponentStatus cs
ClusterIssuer
"""


def plural(kind: str) -> str:
    """Return what the API calls many of a kind, such as networkpolicies."""
    word = kind.lower()
    if word.endswith(("ss", "x", "ch")):
        return f"{word}es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return word if word.endswith("s") else f"{word}s"


def _names(table: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, *short in (row.split() for row in table.strip().splitlines()):
        found |= dict.fromkeys((kind.lower(), plural(kind), *short), kind)
    return found


CLUSTER_WIDE = frozenset(_names(_CLUSTER_WIDE).values())
"""Kinds whose objects are in no namespace."""

_KINDS = _names(_NAMESPACED) | _names(_CLUSTER_WIDE)


def kind_of(word: str) -> str:
    """Return the kind that a word of a command line or of a table means; empty if none does.

    A word may name its API group after a dot, as `deployments.apps` does.
    """
    return _KINDS.get(word.lower().split(".")[0], "")
