"""Which cluster is meant by a name: the only one, one that is connected, or a recorded one."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Cluster, Usage
from tocsin_cluster.printed import Printed
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import ObjectRef

ONLY = "cluster"
"""What the only cluster is called where nobody names it."""

KEPT = 32
"""Recorded clusters that stay in memory."""


class OneCluster:
    """There is only one, whatever it is called."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def named(self, cluster: str) -> Cluster:
        """Return the one."""
        del cluster
        return self._cluster

    def meant(self, cluster: str) -> Mapping[str, Cluster]:
        """Return the one, called as the alert calls it."""
        return {cluster or ONLY: self._cluster}


class RecordedClusters:
    """A folder of snapshots, each in a folder that is called as its cluster.

    ClusterError if there is no such folder.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise ClusterError(
                f"no folder {str(root)!r}: give one with a snapshot for each cluster"
            )
        self._root = root
        self._known: dict[str, SnapshotCluster] = {}

    def named(self, cluster: str) -> Cluster:
        """Return one; without a name the only one. ClusterError if it cannot be told, or read."""
        name = cluster or self._only()
        if name not in self.names():
            raise ClusterError(
                f"no snapshot of the cluster {name!r} in {str(self._root)!r}: record it"
            )
        if name not in self._known:
            if len(self._known) >= KEPT:
                del self._known[next(iter(self._known))]
            self._known[name] = SnapshotCluster(self._root / name)
        return self._known[name]

    def meant(self, cluster: str) -> Mapping[str, Cluster]:
        """Return those that are named, or all."""
        return _meant(cluster, sorted(self.names()), self.named)

    def _only(self) -> str:
        names = self.names()
        if len(names) != 1:
            raise ClusterError(
                f"the alert names no cluster, and {str(self._root)!r} holds {len(names)}"
            )
        return names.pop()

    def names(self) -> set[str]:
        """Return the names of all; ClusterError if the folder cannot be read."""
        try:
            return {path.name for path in self._root.iterdir() if path.is_dir()}
        except OSError as error:
            raise ClusterError(f"cannot look through {str(self._root)!r}: {error}") from error


class NamedClusters:
    """Those that are connected, by name, and others that are recorded, if there are such.

    A name that is not known is never taken for another one's.
    """

    def __init__(
        self, clusters: Mapping[str, Cluster], others: RecordedClusters | None = None
    ) -> None:
        self._clusters = dict(clusters)
        self._others = others

    def named(self, cluster: str) -> Cluster:
        """Return one; without a name the only one. ClusterError if it cannot be told."""
        known = ", ".join(self._clusters)
        if not cluster and (self._others or len(self._clusters) != 1):
            raise ClusterError(f"the alert names no cluster, and there are several: {known}, …")
        if not cluster:
            return next(iter(self._clusters.values()))
        if cluster in self._clusters:
            return self._clusters[cluster]
        if self._others:
            return self._others.named(cluster)
        raise ClusterError(f"the cluster {cluster!r} is not connected; there is {known}")

    def meant(self, cluster: str) -> Mapping[str, Cluster]:
        """Return those that are named, or all."""
        recorded = self._others.names() - set(self._clusters) if self._others else set()
        return _meant(cluster, (*self._clusters, *sorted(recorded)), self.named)


class UnseenCluster:
    """A cluster that cannot be looked at: every question raises ClusterError, which says why."""

    source = "cluster"

    def __init__(self, why: str) -> None:
        self._why = why

    @property
    def recorded_at(self) -> datetime | None:
        """Never."""
        return None

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Raise."""
        raise ClusterError(self._why)

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Raise."""
        raise ClusterError(self._why)

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Raise."""
        raise ClusterError(self._why)

    async def events_in(self, namespace: str) -> tuple[ClusterEvent, ...]:
        """Raise."""
        raise ClusterError(self._why)

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Raise."""
        raise ClusterError(self._why)

    async def usage(self, namespace: str) -> tuple[Usage, ...]:
        """Raise."""
        raise ClusterError(self._why)

    async def printed(self) -> tuple[Printed, ...]:
        """Raise."""
        raise ClusterError(self._why)


def _meant(
    cluster: str, known: Sequence[str], named: Callable[[str], Cluster]
) -> Mapping[str, Cluster]:
    """Return the clusters of a label; what cannot be told apart by a name is one that is unseen."""
    parts = [part.strip() for part in cluster.split(",") if part.strip()]
    names = (cluster,) if cluster in known else tuple(dict.fromkeys(parts)) or tuple(known)
    return {name: _seen(name, named) for name in names} or {ONLY: _seen("", named)}


def _seen(name: str, named: Callable[[str], Cluster]) -> Cluster:
    try:
        return named(name)
    except ClusterError as error:
        return UnseenCluster(str(error))
