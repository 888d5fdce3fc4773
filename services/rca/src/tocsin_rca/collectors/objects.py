"""The workload that the alert is about, as the cluster holds it."""

from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.collectors.inquiry import Inquiry, Observations
from tocsin_rca.collectors.target import Target


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the workload, or say that the cluster does not show it; a bare pod is no workload."""
    if target.workload is None or target.workload.kind == "Pod":
        return ()
    query = f"get {target.workload}"
    if target.manifest is None:
        return (inquiry.missing(inquiry.cluster.source, query, "the cluster does not show it"),)
    return (inquiry.saw(EvidenceKind.OBJECT, query, excerpt(target.manifest), target.manifest),)
