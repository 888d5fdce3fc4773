"""The cluster's own components: an alert about a workload may be about what runs the cluster."""

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE
from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.collectors.inquiry import Inquiry, Observations
from tocsin_rca.collectors.target import Target

SYSTEM = "kube-system"
MOST = 5
COMPONENTS = (
    *("kube-apiserver-", "kube-scheduler-", "kube-controller-manager-", "etcd-"),
    *("kube-proxy-", "cloud-controller-manager-"),
)


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the pods of components that are not ready; those that are need no look."""
    if target.namespace in (SYSTEM, EVERYWHERE):
        return ()
    query = f"components in {SYSTEM}"
    return await inquiry.ask(inquiry.cluster.source, query, _look(inquiry))


async def _look(inquiry: Inquiry) -> Observations:
    pods = await inquiry.cluster.list("Pod", SYSTEM)
    ailing = [pod for pod in pods if pod.ref.name.startswith(COMPONENTS) and not _is_ready(pod)]
    return tuple(
        inquiry.saw(EvidenceKind.OBJECT, f"get {pod.ref}", excerpt(pod), pod)
        for pod in ailing[:MOST]
    )


def _is_ready(pod: Manifest) -> bool:
    statuses = pod.items("status", "containerStatuses")
    return bool(statuses) and all(status.get("ready") is True for status in statuses)
