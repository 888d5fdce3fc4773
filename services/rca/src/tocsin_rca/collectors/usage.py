"""What the pods of the namespace and the nodes take."""

from tocsin_cluster.port import Usage
from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target

MOST = 50
_MI = 2**20


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return what was measured; a cluster that measures nothing says nothing."""
    return await together(
        inquiry.ask(inquiry.cluster.source, _query(place), _look(place, target, inquiry))
        for place in dict.fromkeys((target.namespace, ""))
    )


async def _look(place: str, target: Target, inquiry: Inquiry) -> Observations:
    found = await inquiry.cluster.usage(place)
    best = sorted(found, key=lambda one: one.about.name not in target.names)
    return tuple(
        inquiry.saw(EvidenceKind.METRIC, _query(place), _told(one), one) for one in best[:MOST]
    )


def _query(place: str) -> str:
    return f"usage of pods in {place}" if place else "usage of nodes"


def _told(one: Usage) -> str:
    of = f"{one.about}, container {one.container}" if one.container else str(one.about)
    cpu = "" if one.cpu is None else f" {one.cpu:.3f} cores"
    memory = "" if one.memory is None else f" {one.memory / _MI:.0f}Mi"
    shares = (("CPU", one.cpu_share), ("memory", one.memory_share))
    rest = "".join(f" {share:.0%} of its {what}" for what, share in shares if share is not None)
    return f"{of}:{cpu}{memory}{rest}"
