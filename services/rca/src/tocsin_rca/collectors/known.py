"""All objects that anything speaks of: what the cluster shows, and beside it what files declare."""

from collections.abc import Iterable, Mapping

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.owners import Objects
from tocsin_contracts import ObjectRef


class Known:
    """Looks objects up in the cluster first; only to find out what an alert is about."""

    def __init__(self, cluster: Objects, declared: Iterable[Manifest]) -> None:
        self._cluster = cluster
        self._declared = {manifest.ref: manifest for manifest in declared}

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one object, or None if neither speaks of it."""
        return await self._cluster.get(ref) or self._declared.get(ref)

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind, those of the cluster first."""
        shown = await self._cluster.list(kind, namespace, labels)
        wanted, known = (labels or {}).items(), {manifest.ref for manifest in shown}
        more = (
            manifest
            for ref, manifest in self._declared.items()
            if (ref.kind, ref.namespace) == (kind, namespace)
            and ref not in known
            and wanted <= manifest.labels.items()
        )
        return (*shown, *more)

    def only(self, kinds: Iterable[str], namespace: str) -> ObjectRef | None:
        """Return the one object of these kinds that files declare in a namespace, if it is one."""
        kinds = frozenset(kinds)
        found = [r for r in self._declared if r.kind in kinds and r.namespace == namespace]
        return found[0] if len(found) == 1 else None
