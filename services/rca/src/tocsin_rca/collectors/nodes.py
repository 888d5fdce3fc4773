"""The nodes under the pods: a node in trouble explains what its pods cannot."""

from tocsin_contracts import EvidenceKind, ObjectRef
from tocsin_rca.collectors.events import reported
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence import Observation

MOST_NODES = 3


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the first nodes that the pods run on, with what was reported about them."""
    names = dict.fromkeys(str(pod.dig("spec", "nodeName") or "") for pod in target.pods)
    refs = [ObjectRef(kind="Node", name=name) for name in names if name][:MOST_NODES]
    return await together(
        inquiry.ask(inquiry.cluster.source, f"get {ref}", _look(ref, inquiry)) for ref in refs
    )


async def _look(ref: ObjectRef, inquiry: Inquiry) -> Observations:
    node, query = await inquiry.cluster.get(ref), f"get {ref}"
    seen: Observation[object] = (
        inquiry.saw(EvidenceKind.OBJECT, query, excerpt(node), node)
        if node
        else inquiry.missing(inquiry.cluster.source, query, "the cluster does not show it")
    )
    return (seen, *await reported(ref, inquiry))
