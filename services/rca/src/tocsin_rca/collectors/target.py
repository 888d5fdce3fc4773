"""Which objects an alert is about; what the cluster says beats what names suggest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest, texts
from tocsin_cluster.owners import pods_of, root_owner
from tocsin_cluster.port import Cluster
from tocsin_contracts import Alert, ObjectRef, Workload
from tocsin_rca.evidence.selectors import differing_keys, is_named_for, selects

MOST_PODS = 10
_KINDS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Service")


@dataclass(frozen=True, slots=True)
class Target:
    """The object an alert points at, the workload behind it, and the pods worth a look."""

    alert: Alert
    named: ObjectRef | None = None
    workload: ObjectRef | None = None
    manifest: Manifest | None = None
    pods: tuple[Manifest, ...] = ()
    all_pods: int = 0

    @property
    def cluster(self) -> str:
        """The cluster as the alert names it; maybe empty."""
        return self.alert.workload.cluster if self.alert.workload else ""

    @property
    def namespace(self) -> str:
        """Where to look."""
        return self.named.namespace if self.named else ""


async def find_target(alert: Alert, cluster: Cluster) -> Target:
    """Return what the alert is about; a target without `named` when the cluster does not know it.

    Raises what the cluster raises.
    """
    named = await _named(alert, cluster)
    if named is None:
        return Target(alert)
    workload = await _workload_behind(named, cluster)
    manifest = await cluster.get(workload) if workload else None
    pods = await (pods_of(cluster, manifest) if manifest else _just(named, cluster))
    chosen = sorted(pods, key=lambda pod: _trouble(pod, alert))[:MOST_PODS]
    return Target(alert, named, workload, manifest, tuple(chosen), len(pods))


async def _named(alert: Alert, cluster: Cluster) -> ObjectRef | None:
    if alert.workload is None:
        return None
    for ref in _candidates(alert, alert.workload):
        if await _is_known(ref, cluster):
            return ref
    return None


async def _is_known(ref: ObjectRef, cluster: Cluster) -> bool:
    if await cluster.get(ref) is not None:
        return True
    return ref.kind == "Pod" and await root_owner(cluster, ref) != ref


def _candidates(alert: Alert, workload: Workload) -> Iterator[ObjectRef]:
    def called(kind: str, name: str) -> ObjectRef:
        return ObjectRef(kind=kind, namespace=workload.namespace, name=name)

    if workload.kind not in ("", "Pod"):
        yield workload.ref
    if alert.labels.get("pod"):
        yield called("Pod", alert.labels["pod"])
    yield called("Pod", workload.name)
    for kind in _KINDS:
        yield called(kind, workload.name)


async def _workload_behind(named: ObjectRef, cluster: Cluster) -> ObjectRef | None:
    if named.kind != "Service":
        return await root_owner(cluster, named)
    selectors = {
        service.ref: texts(service.dig("spec", "selector"))
        for service in await cluster.list("Service", named.namespace)
    }
    selector = selectors.pop(named, {})
    pods = await cluster.list("Pod", named.namespace)
    chosen = [pod for pod in pods if selects(selector, pod.labels)]
    near = [pod for pod in pods if len(differing_keys(selector, pod.labels)) == 1]
    owners = await _owners(chosen or near, cluster)
    related = _sole({owner for owner in owners if is_named_for(named.name, owner.name)})
    if related or (not chosen and len(selector) == 1):
        return related
    unserved = [p for p in near if not any(selects(s, p.labels) for s in selectors.values())]
    return _sole(owners) or (None if chosen else _sole(await _owners(unserved, cluster)))


async def _owners(pods: Iterable[Manifest], cluster: Cluster) -> set[ObjectRef]:
    runs = {pod.owner or pod.ref: pod.ref for pod in pods}
    return {await root_owner(cluster, ref) for ref in runs.values()}


def _sole(owners: set[ObjectRef]) -> ObjectRef | None:
    return next(iter(owners)) if len(owners) == 1 else None


async def _just(named: ObjectRef, cluster: Cluster) -> tuple[Manifest, ...]:
    pod = await cluster.get(named) if named.kind == "Pod" else None
    return (pod,) if pod else ()


def _trouble(pod: Manifest, alert: Alert) -> tuple[bool, bool, int, str]:
    statuses = pod.items("status", "containerStatuses")
    ready = bool(statuses) and all(status.get("ready") is True for status in statuses)
    restarts = sum(int(status.get("restartCount") or 0) for status in statuses)
    return (pod.ref.name != alert.labels.get("pod"), ready, -restarts, pod.ref.name)
