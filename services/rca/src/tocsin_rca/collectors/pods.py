"""The pods of the workload, those in trouble first."""

from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.collectors.inquiry import Inquiry, Observations
from tocsin_rca.collectors.target import Target


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the pods, and say how many more there are than are shown."""
    seen: Observations = tuple(
        inquiry.saw(EvidenceKind.POD, f"get {pod.ref}", excerpt(pod), pod) for pod in target.pods
    )
    more = target.all_pods - len(target.pods)
    if more <= 0:
        return seen
    reason = f"{more} more pods in less trouble were left out"
    return (*seen, inquiry.missing(inquiry.cluster.source, f"pods of {target.workload}", reason))
