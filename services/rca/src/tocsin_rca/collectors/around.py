"""The objects around the workload: what it refers to, and what limits, exposes or scales it."""

from collections.abc import Iterable

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE
from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence.hosts import places as hosts_in

MOST_OF_A_KIND = 25
MOST_ELSEWHERE = 5
_LONGEST_VALUE = 300
NAMESPACED = (
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "Job",
    "CronJob",
    "Pod",
    "Service",
    "Endpoints",
    "EndpointSlice",
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ResourceQuota",
    "LimitRange",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "PersistentVolumeClaim",
    "NetworkPolicy",
    "Ingress",
    "HTTPRoute",
    "VirtualService",
    "DestinationRule",
)
CLUSTER_WIDE = (
    "Node",
    "Namespace",
    "PersistentVolume",
    "StorageClass",
    "IngressClass",
    "PriorityClass",
)
ELSEWHERE = ("PrometheusRule", "Application", "Kustomization", "HelmRelease", "Gateway")
"""Kinds whose objects are often kept in another namespace than the one they are about."""

SYSTEM = (("ConfigMap", "kube-system"), ("Service", "kube-system"))
"""Where the cluster keeps what every pod needs, such as how names are resolved."""


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the objects of each kind, those with a name like the workload's first."""
    places = [(kind, target.namespace) for kind in NAMESPACED]
    places += [place for place in SYSTEM if target.namespace not in (place[1], EVERYWHERE)]
    places += [(kind, "") for kind in CLUSTER_WIDE]
    places += [(kind, EVERYWHERE) for kind in ELSEWHERE]
    questions = [(_query(*place), _look(*place, target, inquiry)) for place in places]
    if hosts := _hosts(target):
        query = "Services of other namespaces that it asks for by name"
        questions.append((query, _elsewhere(hosts, target, inquiry)))
    return await together(
        inquiry.ask(inquiry.cluster.source, query, answer) for query, answer in questions
    )


def _hosts(target: Target) -> set[str]:
    """Short names that the workload is told to ask: they lead nowhere out of its namespace."""
    declared = (one.manifest for one in target.declared if one.manifest.ref == target.workload)
    workload = target.manifest or next(declared, None)
    values = (
        str(one.get("value"))[:_LONGEST_VALUE]
        for container in (workload.containers() if workload else ())
        for one in container.items("env")
    )
    return {place.host for value in values for place in hosts_in(value) if place.is_short}


async def _elsewhere(hosts: set[str], target: Target, inquiry: Inquiry) -> Observations:
    known = (target.namespace, *(namespace for _, namespace in SYSTEM))
    found = [
        one
        for one in await inquiry.cluster.list("Service", EVERYWHERE)
        if one.ref.name in hosts and one.ref.namespace not in known
    ]
    return tuple(
        inquiry.saw(EvidenceKind.OBJECT, f"get {one.ref}", excerpt(one), one)
        for one in found[:MOST_ELSEWHERE]
    )


async def _look(kind: str, namespace: str, target: Target, inquiry: Inquiry) -> Observations:
    found = await inquiry.cluster.list(kind, namespace)
    best = sorted(found, key=lambda one: not _is_near(one, target.names))
    seen: Observations = tuple(
        inquiry.saw(EvidenceKind.OBJECT, f"get {one.ref}", excerpt(one), one)
        for one in best[:MOST_OF_A_KIND]
    )
    more = len(found) - MOST_OF_A_KIND
    if more <= 0:
        return seen
    why = f"{more} more were left out"
    return (*seen, inquiry.missing(inquiry.cluster.source, _query(kind, namespace), why))


def _query(kind: str, namespace: str) -> str:
    return f"every {kind}" if namespace in ("", EVERYWHERE) else f"every {kind} in {namespace}"


def _is_near(one: Manifest, names: Iterable[str]) -> bool:
    own = one.ref.name
    return any(name in own or own in name for name in names)
