"""Read the tables of events that `kubectl get events` and `kubectl describe` print."""

from collections.abc import Iterator

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.kinds import CLUSTER_WIDE, kind_of
from tocsin_cluster.reading import ages
from tocsin_cluster.reading.numbers import whole
from tocsin_cluster.reading.tables import Row, rows
from tocsin_contracts import ObjectRef


def events(text: str, namespace: str) -> Iterator[ClusterEvent]:
    """Yield the events of a table; rows that name no object are left out."""
    for row in rows(text):
        about = _about(row, row.get("NAMESPACE", namespace))
        if about and "REASON" in row:
            yield ClusterEvent(
                about=about,
                type=row.get("TYPE", ""),
                reason=row["REASON"],
                message=row.get("MESSAGE", ""),
                count=_count(row),
                last_seen=None,
                container=_container(row.get("SUBOBJECT", "")),
            )


def _about(row: Row, namespace: str) -> ObjectRef | None:
    word = row.get("OBJECT") or row.get("INVOLVED OBJECT") or ""
    kind, slash, name = word.partition("/")
    if not slash:
        return None
    known = kind_of(kind) or kind
    return ObjectRef(kind=known, namespace="" if known in CLUSTER_WIDE else namespace, name=name)


def _count(row: Row) -> int:
    return whole(row.get("COUNT")) or ages.count(row.get("LAST SEEN", ""))


def _container(subobject: str) -> str:
    return subobject.partition("{")[2].removesuffix("}")
