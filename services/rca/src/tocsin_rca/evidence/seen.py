"""Which objects were seen at all: whoever names another one made it up."""

from collections.abc import Iterator

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import ServiceView
from tocsin_rca.ports import Declared


def objects_seen(case: Case) -> frozenset[ObjectRef]:
    """Return the objects that the cluster shows or reported about, and those that files declare."""
    named = (ref for ref in (case.named, case.workload) if ref)
    return frozenset([*named, *(ref for seen in case.observations for ref in _refs(seen.data))])


def _refs(data: object) -> Iterator[ObjectRef]:
    if isinstance(data, Manifest):
        yield data.ref
    elif isinstance(data, Declared | ServiceView):
        yield data.manifest.ref
    elif isinstance(data, ClusterEvent):
        yield data.about
