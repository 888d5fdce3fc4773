"""What the cluster reported about an object, whichever of the two event APIs said it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tocsin_cluster.kinds import CLUSTER_WIDE
from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import ObjectRef

_CONTAINER = re.compile(r"spec\.(?:initC|c)ontainers\{(?P<name>[^}]+)\}")


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """One event; `count` is how often it was seen, each time is None when nobody said it.

    `container` is empty when the event is about the whole object.
    """

    about: ObjectRef
    type: str
    reason: str
    message: str
    count: int
    last_seen: datetime | None
    container: str = ""
    first_seen: datetime | None = None


def read_event(manifest: Manifest) -> ClusterEvent:
    """Read an Event of v1 or of events.k8s.io/v1; times without a zone are UTC.

    What it is about is in the namespace of the event itself, unless it says otherwise.
    """
    raw = manifest.raw
    named = raw.get("involvedObject") or raw.get("regarding")
    about = named if isinstance(named, Mapping) else {}
    count = raw.get("count") or dig(raw, "series", "count") or raw.get("deprecatedCount") or 1
    kind = str(about.get("kind") or "")
    place = "" if kind in CLUSTER_WIDE else manifest.ref.namespace
    return ClusterEvent(
        about=ObjectRef(
            kind=kind,
            namespace=str(about.get("namespace") or place),
            name=str(about.get("name") or ""),
        ),
        type=str(raw.get("type") or ""),
        reason=str(raw.get("reason") or ""),
        message=str(raw.get("message") or raw.get("note") or ""),
        count=count if isinstance(count, int) else 1,
        last_seen=_last_seen(raw),
        container=_container(str(about.get("fieldPath") or "")),
        first_seen=read_time(raw.get("firstTimestamp") or raw.get("deprecatedFirstTimestamp")),
    )


def _container(field_path: str) -> str:
    found = _CONTAINER.fullmatch(field_path)
    return found["name"] if found else ""


def _last_seen(raw: Mapping[str, Any]) -> datetime | None:
    candidates = (
        dig(raw, "series", "lastObservedTime"),
        raw.get("lastTimestamp"),
        raw.get("deprecatedLastTimestamp"),
        raw.get("eventTime"),
        raw.get("firstTimestamp"),
    )
    return next((read for read in map(read_time, candidates) if read is not None), None)


def read_time(value: Any) -> datetime | None:
    """Read an RFC 3339 time, or what a YAML reader made of it; anything else is None."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
