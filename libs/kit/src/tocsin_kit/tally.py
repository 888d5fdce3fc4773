"""How often and how long the alerts of a run were seen, from the receiver's record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from redis.asyncio import Redis

from tocsin_contracts import Alert, AlertStatus, RunId, Severity
from tocsin_kit import keys
from tocsin_kit.clock import from_millis
from tocsin_kit.store import text_fields, translated

LOUDNESS = (
    Severity.UNKNOWN,
    Severity.NONE,
    Severity.INFO,
    Severity.WARNING,
    Severity.CRITICAL,
)
"""From the quietest to the loudest; the store keeps their places in this list."""

_COUNTS = ("run", "count", "first", "last", "firing", "alerts", "episodes", "severity")
_SHOWN = (*_COUNTS, "past")


def rank(severity: Severity) -> int:
    """Return how loud a severity is, as the store keeps it."""
    return LOUDNESS.index(severity)


@dataclass(frozen=True, slots=True)
class Member:
    """One alert of a run, as it was told last."""

    fingerprint: str
    title: str
    status: AlertStatus
    severity: Severity
    starts_at: datetime | None
    ends_at: datetime | None
    last_seen: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the deliveries of a run add up to; text and members only of an incident's newest run."""

    first_seen: datetime
    last_seen: datetime
    occurrences: int
    episodes: int
    firing: int
    resolved: int
    severity: Severity
    alert: Alert | None = None
    members: tuple[Member, ...] = field(default=())


class Tallies:
    """Reads what the receiver counted. Raises TransientError when the store does not answer."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def many(self, wanted: Sequence[tuple[str, RunId]]) -> list[Tally | None]:
        """Return the counts of each run by the key of its incident; None where none are kept."""
        async with translated("read the counts of runs"):
            pipe = self._client.pipeline(transaction=False)
            for incident_key, _ in wanted:
                pipe.hmget(keys.incident(incident_key), _SHOWN)
            found: list[Any] = await pipe.execute()
        records = (dict(zip(_SHOWN, values, strict=True)) for values in found)
        pairs = zip(wanted, records, strict=True)
        return [_tally({n: v for n, v in record.items() if v}, run) for (_, run), record in pairs]

    async def one(self, incident_key: str, run_id: RunId) -> Tally | None:
        """Return the counts of one run, with its alerts while it is the newest of its incident."""
        async with translated(f"read the counts of run {run_id!r}"):
            record = text_fields(await self._client.hgetall(keys.incident(incident_key)))
        return _tally(record, run_id)


def _tally(record: Mapping[str, str], run_id: RunId) -> Tally | None:
    if record.get("run") == run_id:
        return _counted([record[name] for name in _COUNTS], record)
    for line in record.get("past", "").splitlines():
        values = line.split(" ")
        if values[0] == run_id:
            return _counted(values, {})
    return None


def _counted(values: Sequence[str], record: Mapping[str, str]) -> Tally:
    _, count, first, last, firing, alerts, episodes, severity = values
    shown = record.get("shown", "").partition("\n")[0]
    return Tally(
        first_seen=from_millis(first),
        last_seen=from_millis(last),
        occurrences=int(count),
        episodes=int(episodes),
        firing=int(firing),
        resolved=int(alerts) - int(firing),
        severity=LOUDNESS[int(severity)],
        alert=Alert.model_validate_json(shown) if shown else None,
        members=tuple(_members(record)),
    )


def _members(record: Mapping[str, str]) -> list[Member]:
    """Return the alerts of the newest run, the last told first."""
    found = [
        _member(name.removeprefix("alert:"), value.split("|", 7)[1:])
        for name, value in record.items()
        if name.startswith("alert:") and value.partition("|")[0] == record.get("number")
    ]
    return sorted(found, key=lambda member: member.last_seen, reverse=True)


def _member(fingerprint: str, values: Sequence[str]) -> Member:
    status, start, over, at, _, severity, title = values
    return Member(
        fingerprint=fingerprint,
        title=title,
        status=AlertStatus(status),
        severity=LOUDNESS[int(severity)],
        starts_at=from_millis(start) if start != "0" else None,
        ends_at=from_millis(over) if over != "0" else None,
        last_seen=from_millis(at),
    )
