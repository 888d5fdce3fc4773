"""Which objects an alert is about; what the cluster says beats what names suggest."""

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.owners import pods_of, root_owner
from tocsin_cluster.port import EVERYWHERE, Cluster
from tocsin_contracts import Alert, ObjectRef, Workload
from tocsin_rca.collectors.behind import WORKLOADS, workload_behind
from tocsin_rca.collectors.known import Known
from tocsin_rca.ports import Declared

MOST_PODS = 10
_KINDS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Service")
_LABELS = {
    "horizontalpodautoscaler": "HorizontalPodAutoscaler",
    "hpa": "HorizontalPodAutoscaler",
    "persistentvolumeclaim": "PersistentVolumeClaim",
    "pvc": "PersistentVolumeClaim",
    "ingress": "Ingress",
    "poddisruptionbudget": "PodDisruptionBudget",
    "resourcequota": "ResourceQuota",
    "replicaset": "ReplicaSet",
    "job_name": "Job",
    "service": "Service",
}
_OF_CLUSTER = {"node": "Node", "persistentvolume": "PersistentVolume"}
"""Labels that name an object, where no label names the workload itself."""


@dataclass(frozen=True, slots=True)
class Target:
    """The object an alert points at, the workload behind it, and the pods worth a look.

    `manifest` is the workload as the cluster shows it, `declared` what files say in its namespace.
    """

    alert: Alert
    named: ObjectRef | None = None
    workload: ObjectRef | None = None
    manifest: Manifest | None = None
    pods: tuple[Manifest, ...] = ()
    all_pods: int = 0
    declared: tuple[Declared, ...] = ()

    @property
    def cluster(self) -> str:
        """The cluster as the alert names it; maybe empty."""
        return cluster_of(self.alert)

    @property
    def namespace(self) -> str:
        """Where to look: everywhere if neither the object nor the alert says."""
        named = self.named.namespace if self.named else ""
        return named or namespace_of(self.alert) or EVERYWHERE

    @property
    def names(self) -> tuple[str, ...]:
        """What the objects that it is about are called, and so may be those near them."""
        refs = (self.named, self.workload, *(pod.ref for pod in self.pods))
        return tuple(dict.fromkeys(ref.name for ref in refs if ref))


def cluster_of(alert: Alert) -> str:
    """Return the cluster that an alert names; empty if it names none."""
    named = alert.workload.cluster if alert.workload else ""
    return named or alert.labels.get("cluster", "")


def namespace_of(alert: Alert) -> str:
    """Return the namespace that an alert names; empty if it names none."""
    if alert.workload:
        return alert.workload.namespace
    return alert.labels.get("exported_namespace") or alert.labels.get("namespace", "")


def names_of(alert: Alert) -> tuple[str, ...]:
    """Return what an alert calls the objects that it may be about."""
    workload = (alert.workload.name,) if alert.workload else ()
    labels = ("pod", "exported_pod", "container", *_LABELS, *_OF_CLUSTER)
    named = (alert.labels[label] for label in labels if alert.labels.get(label))
    return tuple(dict.fromkeys((*workload, *named)))


async def find_target(alert: Alert, cluster: Cluster, declared: tuple[Declared, ...]) -> Target:
    """Return what the alert is about; a target without `named` when nothing speaks of it.

    Raises what the cluster raises.
    """
    known = Known(cluster, (one.manifest for one in declared))
    named = await _named(alert, cluster, known)
    if named is None:
        return Target(alert, declared=declared)
    workload = await workload_behind(named, known)
    manifest = await known.get(workload) if workload else None
    runs = manifest or _unseen(workload)
    pods = await (pods_of(cluster, runs) if runs else _just(named, cluster))
    chosen = sorted(pods, key=lambda pod: _trouble(pod, alert))[:MOST_PODS]
    shown = await cluster.get(workload) if workload else None
    return Target(alert, named, workload, shown, tuple(chosen), len(pods), declared)


async def _named(alert: Alert, cluster: Cluster, known: Known) -> ObjectRef | None:
    for ref in _candidates(alert):
        if await _is_known(ref, known) or await cluster.events(ref):
            return ref
    namespace = namespace_of(alert)
    shown = [one for kind in WORKLOADS for one in await cluster.list(kind, namespace)]
    only = None if shown else known.only(WORKLOADS, namespace)
    return only or next(_said(alert), None)


async def _is_known(ref: ObjectRef, known: Known) -> bool:
    if await known.get(ref) is not None:
        return True
    return ref.kind == "Pod" and await root_owner(known, ref) != ref


def _candidates(alert: Alert) -> Iterator[ObjectRef]:
    if alert.workload:
        yield from _as_workload(alert, alert.workload)
    yield from _said(alert)


def _said(alert: Alert) -> Iterator[ObjectRef]:
    """Yield the objects that labels name by their kind."""
    namespace, labels = namespace_of(alert), alert.labels
    for label, kind in _LABELS.items():
        if labels.get(label) and namespace:
            yield ObjectRef(kind=kind, namespace=namespace, name=labels[label])
    for label, kind in _OF_CLUSTER.items():
        if labels.get(label):
            yield ObjectRef(kind=kind, name=labels[label])


def _as_workload(alert: Alert, workload: Workload) -> Iterator[ObjectRef]:
    def called(kind: str, name: str) -> ObjectRef:
        return ObjectRef(kind=kind, namespace=workload.namespace, name=name)

    if workload.kind not in ("", "Pod"):
        yield workload.ref
    if alert.labels.get("pod"):
        yield called("Pod", alert.labels["pod"])
    yield called("Pod", workload.name)
    for kind in _KINDS:
        yield called(kind, workload.name)


def _unseen(workload: ObjectRef | None) -> Manifest | None:
    """Return what is known of a workload that was not recorded: its pods may have been."""
    if workload is None or workload.kind == "Pod":
        return None
    about = {"name": workload.name, "namespace": workload.namespace}
    return Manifest({"kind": workload.kind, "metadata": about}, whole=False)


async def _just(named: ObjectRef, cluster: Cluster) -> tuple[Manifest, ...]:
    pod = await cluster.get(named) if named.kind == "Pod" else None
    return (pod,) if pod else ()


def _trouble(pod: Manifest, alert: Alert) -> tuple[bool, bool, int, str]:
    statuses = pod.items("status", "containerStatuses")
    ready = bool(statuses) and all(status.get("ready") is True for status in statuses)
    restarts = sum(int(status.get("restartCount") or 0) for status in statuses)
    return (pod.ref.name != alert.labels.get("pod"), ready, -restarts, pod.ref.name)
