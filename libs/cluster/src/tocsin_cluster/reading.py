"""From what commands printed to objects, events, measurements and logs."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Usage
from tocsin_cluster.printed import Printed


@dataclass(frozen=True, slots=True)
class Read:
    """What texts say; of two that tell of one object the better one comes first."""

    objects: tuple[Manifest, ...] = ()
    events: tuple[ClusterEvent, ...] = ()
    usage: tuple[Usage, ...] = ()
    texts: tuple[Printed, ...] = field(default=())


def read(printed: Iterable[Printed], namespace: str) -> Read:
    """Return what texts say; `namespace` is meant where none is said. Nothing is raised."""
    del namespace
    return Read(texts=tuple(printed))
