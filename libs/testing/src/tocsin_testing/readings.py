"""Payloads of senders, read as ingest reads them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tocsin_contracts import Alert
from tocsin_ingest import sources
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.ports import Delivery

RECEIVED = datetime(2026, 1, 1, 12, tzinfo=UTC)

_SOURCES = sources.load()


def alerts_of(
    source: str,
    payload: Any,
    *,
    headers: Mapping[str, str] | None = None,
    instance: str = "",
    replicas: Iterable[str] = (),
    only: Iterable[str] = (),
) -> list[Alert]:
    """Return the alerts that ingest makes of one payload."""
    identity = Identity(
        source=source, instance=instance, ignored=frozenset(replicas), only=tuple(only)
    )
    delivery = Delivery(payload=payload, received_at=RECEIVED, headers=dict(headers or {}))
    return [alert_of(reading, identity) for reading in _SOURCES[source].parse(delivery)]
