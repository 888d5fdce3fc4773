"""Records of runs that the store has lost, made again from the stream of facts."""

from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nats.aio.client import Client
from redis.asyncio import Redis

from tocsin_contracts import AlertAccepted, Event, RunFinished, RunId, RunState
from tocsin_kit import keys, store
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.ensure import connected
from tocsin_kit.feed import Feed
from tocsin_kit.runs import fact
from tocsin_kit.store import Script

MOST_OF_A_KIND = 21
"""Facts of one topic that a record keeps: the newest, and twenty before it."""


@dataclass(slots=True)
class Told:
    """What the facts of one run, one after the other, make of it."""

    run_id: RunId
    state: RunState = RunState.RECEIVED
    version: int = 0
    begins: bool = False
    facts: dict[str, deque[Event]] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Go on by one fact; an older version of the run tells nothing of its state."""
        kept = self.facts.setdefault(event.topic, deque(maxlen=MOST_OF_A_KIND))
        if event.id in {one.id for one in kept}:
            return
        kept.append(event)
        self.begins |= isinstance(event, AlertAccepted)
        newer = event.run_version > self.version
        if event.state and (newer or self._may_move(event.run_version)):
            self.state = event.state
        self.version = max(self.version, event.run_version)

    def _may_move(self, version: int) -> bool:
        return version == self.version and not self.state.terminal

    @property
    def events(self) -> list[Event]:
        """The facts that a record keeps, in their order; a run that goes on has no end."""
        every = sorted((one for kept in self.facts.values() for one in kept), key=_at)
        over = self.state.terminal
        return [one for one in every if over or not isinstance(one, RunFinished)]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One run that the stream tells of; `written` is false where the store knows as much."""

    run_id: RunId
    state: RunState
    version: int
    facts: int
    written: bool


class Rebuilding:
    """Makes records again. TransientError if bus or store do not answer."""

    def __init__(
        self, client: Redis, feed: Feed, *, ttl_days: float = 30, clock: Clock | None = None
    ) -> None:
        self._client = client
        self._feed = feed
        self._ttl_ms = int(timedelta(days=ttl_days).total_seconds() * 1000)
        self._clock = clock or SystemClock()
        self._rebuild = Script(client, "rebuild", "facts")

    async def run(self, only: RunId | None = None) -> list[Rebuilt]:
        """Write every run that the stream still tells from its beginning, or one of them.

        A record that is as new is left alone, so it may run beside the services. What no fact
        tells is not made again: approvals, leases, and what the receiver counted. Without its
        approval a plan that waits can be decided by nobody.
        """
        told = await self._told(only)
        return [await self._write(one) for one in told.values() if one.begins]

    async def _told(self, only: RunId | None) -> dict[RunId, Told]:
        told: dict[RunId, Told] = {}
        newest = await self._feed.newest()
        async with aclosing(self._feed.past(0, newest)) as facts:
            async for one in facts:
                event = one.event
                if event and only in (None, event.run_id):
                    told.setdefault(event.run_id, Told(event.run_id)).take(event)
        return told

    async def _write(self, told: Told) -> Rebuilt:
        events = told.events
        created, updated = millis(events[0].at), millis(max(map(_at, events)))
        left = created + self._ttl_ms - millis(self._clock.now())
        written = left > 0 and await self._rebuild(
            [keys.run(told.run_id)],
            [
                *(told.state.value, told.version, created, updated, max(left, 1)),
                *(part for one in events for part in (one.topic, *fact(one))),
            ],
            ("ZADD", keys.runs(), "NX", created, told.run_id),
        )
        return Rebuilt(told.run_id, told.state, told.version, len(events), bool(written))


async def rebuild(
    nats_url: str, redis_url: str, only: RunId | None = None, *, prefix: str, ttl_days: float
) -> list[Rebuilt]:
    """Make records again over connections of its own; errors are those of `Rebuilding`."""
    keys.use_prefix(prefix)
    client = store.connect(redis_url)
    try:
        async with connected(nats_url) as bus:

            async def connect() -> Client:
                return bus

            return await Rebuilding(client, Feed(connect), ttl_days=ttl_days).run(only)
    finally:
        await client.aclose()


def _at(event: Event) -> datetime:
    return event.at
