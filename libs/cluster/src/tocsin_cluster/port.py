"""What may be asked of a cluster; nothing here can change one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef


class Cluster(Protocol):
    """A read-only view. Every question may raise ClusterError; Secrets are never returned."""

    @property
    def source(self) -> str:
        """Who answers, as evidence names it."""

    @property
    def recorded_at(self) -> datetime | None:
        """When what it answers was true; None for a cluster that answers about this moment."""

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one object, or None when the cluster says that it does not exist."""

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind in a namespace that carry all of the labels."""

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Return what was reported about an object, the oldest first."""

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Return the log of a container or of the one before it; None when none is kept."""
