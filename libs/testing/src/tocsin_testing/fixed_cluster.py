"""A cluster that shows what a test puts into it, and can be away."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE, Usage
from tocsin_cluster.printed import Printed
from tocsin_contracts import ObjectRef


class FixedCluster:
    """Holds objects; kinds in `denied` cannot be asked for. It has no events, logs or usage."""

    source = "fixed"
    recorded_at: datetime | None = None

    def __init__(
        self, objects: Iterable[Mapping[str, object]] = (), denied: Iterable[str] = ()
    ) -> None:
        self.objects = [Manifest(one) for one in objects]
        self._denied = frozenset(denied)

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one object, or None."""
        self._refuse(ref.kind)
        return next((one for one in self.objects if one.ref == ref), None)

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind."""
        self._refuse(kind)
        wanted = (labels or {}).items()
        return tuple(
            one
            for one in self.objects
            if one.ref.kind == kind
            and namespace in (EVERYWHERE, one.ref.namespace)
            and wanted <= one.labels.items()
        )

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Return none."""
        del ref
        return ()

    async def events_in(self, namespace: str) -> tuple[ClusterEvent, ...]:
        """Return none."""
        del namespace
        return ()

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Return none."""
        del namespace, pod, container, previous
        return None

    async def usage(self, namespace: str) -> tuple[Usage, ...]:
        """Return none."""
        del namespace
        return ()

    async def printed(self) -> tuple[Printed, ...]:
        """Return none."""
        return ()

    def _refuse(self, kind: str) -> None:
        if kind in self._denied:
            raise ClusterError(f"{kind} is forbidden: ask for the right to list it")
