"""The run store: leases, atomic commits and reads of a run's record.

BEGIN takes a lease for one event, COMMIT stores state, version, facts and the outgoing events in
one step. The scripts in `lua/` are the whole protocol; this module gives it types.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import uuid4

from redis.asyncio import Redis

from tocsin_contracts import BY_TOPIC, OPEN_STATES, Event, RunId, RunState
from tocsin_kit import keys
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.issues import Issues
from tocsin_kit.moves import Move, join
from tocsin_kit.pulls import Pulls
from tocsin_kit.store import Script, translated

MOST_VERSIONS = 10**9
"""More than any run reaches; what is above would not survive Lua's numbers."""


class BeginVerdict(StrEnum):
    """What BEGIN says about an event."""

    GO = "go"
    DONE = "done"
    STALE = "stale"
    EARLY = "early"
    BUSY = "busy"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a run for one service, until it expires unrenewed."""

    run_id: RunId
    service: str
    event_id: str
    token: str

    @property
    def keys(self) -> tuple[str, str]:
        """The run and lease keys that every script takes."""
        return keys.run(self.run_id), keys.lease(self.run_id, self.service)


@dataclass(frozen=True, slots=True)
class Begin:
    """The verdict, with the stored events (DONE), the wait in seconds (BUSY) or the cause."""

    verdict: BeginVerdict
    lease: Lease
    stored: tuple[Event, ...] = ()
    wait: float = 0.0
    cause: str = ""


class Renewal(StrEnum):
    """What a renewal finds out."""

    KEPT = "kept"
    LOST = "lost"
    CANCELLED = "cancelled"


class RunStore:
    """Reads and moves runs. Every method raises TransientError when the store does not answer."""

    def __init__(
        self,
        client: Redis,
        *,
        lease_seconds: float = 10,
        max_attempts: int = 5,
        ttl_days: float = 30,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._lease_ms = int(lease_seconds * 1000)
        self._max_attempts = max_attempts
        self._ttl_ms = int(timedelta(days=ttl_days).total_seconds() * 1000)
        self._clock = clock or SystemClock()
        self._create = Script(client, "create")
        self._begin = Script(client, "begin")
        self._commit = Script(client, "commit", "facts")
        self._renew = Script(client, "renew")
        self._release = Script(client, "release")
        self._pulls = Pulls(client, ttl_days)
        self._issues = Issues(client)

    def limit_attempts(self, most: int) -> None:
        """Give up after so many tries, from now on."""
        self._max_attempts = most

    async def create(self, event: Event) -> None:
        """Make the record of a run that an event starts; doing it again changes nothing."""
        key, now = keys.run(event.run_id), self._now()
        head, body = fact(event)
        stored = f"{head}\n{body}"
        await self._create(
            [key],
            [RunState.RECEIVED.value, now, f"fact:{event.topic}", stored, self._ttl_ms],
            ("ZADD", keys.runs(), "NX", now, event.run_id),
            ("ZREMRANGEBYSCORE", keys.runs(), "-inf", now - self._ttl_ms),
        )

    async def begin(self, event: Event, service: str, allowed: Move) -> Begin:
        """Take the lease for an event, or say why there is nothing to do now."""
        if event.run_version > MOST_VERSIONS:
            raise PermanentError(f"no run has the version {event.run_version}")
        lease = Lease(event.run_id, service, event.id, uuid4().hex)
        verdict, payload, _ = await self._begin(
            lease.keys,
            [
                service,
                event.id,
                lease.token,
                self._lease_ms,
                join(allowed.starts),
                join(allowed.earlier),
                allowed.during or "",
                event.run_version,
                self._max_attempts,
                self._now(),
                join(OPEN_STATES),
            ],
        )
        found = BeginVerdict(verdict)
        return Begin(
            verdict=found,
            lease=lease,
            stored=_unpack(payload) if found is BeginVerdict.DONE else (),
            wait=max(int(payload), 0) / 1000 if found is BeginVerdict.BUSY else 0.0,
            cause=payload if found is BeginVerdict.EXHAUSTED else "",
        )

    async def commit(
        self, lease: Lease, allowed: Move, event: Event, outgoing: Sequence[Event]
    ) -> tuple[Event, ...]:
        """Store what a handler concluded and return the events to publish, stamped.

        A lost lease raises TransientError: the redelivery sees what the other worker stored. A run
        that was moved elsewhere meanwhile (cancelled, say) returns no events.
        """
        await self._pulls.remember(outgoing)
        await self._issues.remember(outgoing)
        state = next((e.state for e in reversed(outgoing) if e.state), None)
        facts = [part for e in (event, *outgoing) for part in (e.topic, *fact(e))]
        verdict, stored = await self._commit(
            lease.keys,
            [
                lease.service,
                lease.event_id,
                lease.token,
                join(allowed.starts),
                state or "",
                _pack(outgoing),
                self._now(),
                self._ttl_ms,
                *facts,
            ],
        )
        if verdict == "fenced":
            raise TransientError(f"lease on run {lease.run_id!r} was lost before the commit")
        return () if verdict == "stale" else _unpack(stored)

    async def renew(self, lease: Lease) -> Renewal:
        """Keep the lease for another term."""
        return Renewal(
            await self._renew(lease.keys, [lease.token, self._lease_ms, join(OPEN_STATES)])
        )

    async def release(self, lease: Lease, *, counted: bool, cause: str = "") -> None:
        """Give the lease back; an uncounted attempt was nobody's fault."""
        how = "counted" if counted else "uncounted"
        args = [lease.service, lease.event_id, lease.token, how, cause]
        await self._release(lease.keys, args)

    async def cancel(self, run_id: RunId) -> None:
        """Raise the flag that every renewal of a lease on the run returns."""
        async with translated(f"cancel run {run_id!r}"):
            await self._client.hset(keys.run(run_id), "cancel", str(self._now()))

    def _now(self) -> int:
        return millis(self._clock.now())


def fact(event: Event) -> tuple[str, str]:
    """Return when an event happened, in ms, with its id, and the event, as a record keeps it."""
    return f"{millis(event.at)} {event.id}", event.model_dump_json()


def _pack(outgoing: Sequence[Event]) -> str:
    return json.dumps([[event.topic, event.model_dump_json()] for event in outgoing])


def _unpack(stored: str) -> tuple[Event, ...]:
    """Read stored events; the version of the run they made true stands on the first line."""
    version, packed = stored.split("\n", 1)
    return tuple(
        BY_TOPIC[topic].model_validate_json(body).model_copy(update={"run_version": int(version)})
        for topic, body in json.loads(packed)
    )
