"""The run store in memory: what begin, commit, renew and release of the scripts do, by hand.

A test runs the same steps on this and on a real store and compares every answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from tocsin_contracts import OPEN_STATES, Event, RunId, RunState
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TransientError
from tocsin_kit.moves import Move, join
from tocsin_kit.run_view import Run
from tocsin_kit.runs import Begin, BeginVerdict, Lease, Renewal

DoneKey = tuple[str, str]


@dataclass(slots=True)
class Record:
    """What the store keeps of one run."""

    created: datetime | None = None
    state: RunState = RunState.RECEIVED
    version: int = 0
    cancelled: bool = False
    facts: dict[str, Event] = field(default_factory=dict)
    done: dict[DoneKey, tuple[Event, ...]] = field(default_factory=dict)
    attempts: dict[DoneKey, int] = field(default_factory=dict)
    causes: dict[DoneKey, str] = field(default_factory=dict)


class MemoryRuns:
    """Reads and moves runs as RunStore and RunReader do. `committing` sees what is committed."""

    def __init__(
        self,
        clock: Clock,
        *,
        lease_seconds: float = 10,
        max_attempts: int = 5,
        committing: Callable[[Sequence[Event]], None] = lambda _: None,
    ) -> None:
        self.records: dict[RunId, Record] = {}
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._max_attempts = max_attempts
        self._committing = committing
        self._leases: dict[tuple[RunId, str], tuple[str, datetime]] = {}
        self._tokens = count()

    async def create(self, event: Event) -> None:
        """Make the record of a run; doing it again changes nothing."""
        record = self.records.setdefault(event.run_id, Record())
        record.created = record.created or self._clock.now()
        record.facts.setdefault(event.topic, event)

    async def get(self, run_id: RunId) -> Run | None:
        """Return the run, or None."""
        record = self.records.get(run_id)
        if record is None or record.created is None:
            return None
        return Run(
            id=run_id,
            state=record.state,
            version=record.version,
            created_at=record.created,
            updated_at=record.created,
            cancel_requested=record.cancelled,
            facts=dict(record.facts),
        )

    async def cancel(self, run_id: RunId) -> None:
        """Raise the flag that every renewal returns."""
        self.records.setdefault(run_id, Record()).cancelled = True

    async def begin(self, event: Event, service: str, allowed: Move) -> Begin:
        """Take the lease for an event, or say why there is nothing to do now."""
        lease = Lease(event.run_id, service, event.id, f"token-{next(self._tokens)}")
        key, found = (service, event.id), self.records.get(event.run_id)
        record = found or Record()
        if key in record.done:
            return Begin(BeginVerdict.DONE, lease, stored=record.done[key])
        newer = event.run_version > record.version and not record.state.terminal
        if not newer and record.state not in allowed.starts:
            waits = found is not None and record.state in allowed.earlier
            return Begin(BeginVerdict.EARLY if waits else BeginVerdict.STALE, lease)
        if wait := self._held(lease):
            return Begin(BeginVerdict.BUSY, lease, wait=wait)
        self._hold(lease)
        self.records[event.run_id] = record
        record.created = record.created or self._clock.now()
        _enter(record, allowed, event.run_version if newer else record.version)
        record.attempts[key] = record.attempts.get(key, 0) + 1
        if record.attempts[key] > self._max_attempts:
            return Begin(BeginVerdict.EXHAUSTED, lease, cause=record.causes.get(key, ""))
        return Begin(BeginVerdict.GO, lease)

    async def commit(
        self, lease: Lease, allowed: Move, event: Event, outgoing: Sequence[Event]
    ) -> tuple[Event, ...]:
        """Store what a handler concluded, all or nothing, and return the events to publish."""
        self._committing(outgoing)
        record, key = self.records.get(lease.run_id), (lease.service, lease.event_id)
        if record and key in record.done:
            return record.done[key]
        if record is None or not self._is_ours(lease):
            raise TransientError(f"lease on run {lease.run_id!r} was lost before the commit")
        del self._leases[lease.run_id, lease.service]
        if record.state not in allowed.starts:
            return ()
        state = next((one.state for one in reversed(outgoing) if one.state), None)
        if state:
            record.state, record.version = state, record.version + 1
        stored = tuple(one.model_copy(update={"run_version": record.version}) for one in outgoing)
        if outgoing:
            record.done[key] = stored
        record.attempts.pop(key, None)
        record.causes.pop(key, None)
        for one in (event, *outgoing):
            _keep(record, one)
        return stored

    async def renew(self, lease: Lease) -> Renewal:
        """Keep the lease for another term."""
        if not self._is_ours(lease):
            return Renewal.LOST
        self._hold(lease)
        record = self.records[lease.run_id]
        over = record.cancelled or record.state not in OPEN_STATES
        return Renewal.CANCELLED if over else Renewal.KEPT

    async def release(self, lease: Lease, *, counted: bool, cause: str = "") -> None:
        """Give the lease back; an uncounted attempt was nobody's fault."""
        if not self._is_ours(lease):
            return
        del self._leases[lease.run_id, lease.service]
        record, key = self.records[lease.run_id], (lease.service, lease.event_id)
        if not counted:
            record.attempts[key] = record.attempts.get(key, 0) - 1
        if cause:
            record.causes[key] = cause

    def _hold(self, lease: Lease) -> None:
        self._leases[lease.run_id, lease.service] = lease.token, self._clock.now()

    def _left(self, lease: Lease) -> tuple[str, float]:
        token, since = self._leases.get((lease.run_id, lease.service), ("", None))
        if since is None:
            return "", 0.0
        left = self._lease_seconds - (self._clock.now() - since).total_seconds()
        return (token, left) if left > 0 else ("", 0.0)

    def _held(self, lease: Lease) -> float:
        return self._left(lease)[1]

    def _is_ours(self, lease: Lease) -> bool:
        return self._left(lease)[0] == lease.token


def _enter(record: Record, allowed: Move, version: int) -> None:
    record.version = version
    if allowed.during:
        record.state = allowed.during
    elif record.state not in allowed.starts:
        record.state = RunState(join(allowed.starts).partition(",")[0])


def _keep(record: Record, event: Event) -> None:
    known = record.facts.get(event.topic)
    if known is None or event.at >= known.at:
        record.facts[event.topic] = event
