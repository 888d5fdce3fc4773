"""How everything is: processes by their heartbeats, streams by the bus, what is kept by the store.

Whatever cannot be seen is unknown. Nothing is well because nobody complained.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from tocsin_contracts.status import (
    Condition,
    ConsumerView,
    InstanceView,
    ServiceView,
    StatusView,
    StoreView,
    StreamView,
)
from tocsin_kit import logging
from tocsin_kit.bus import Bus
from tocsin_kit.bus_figures import BusFigures, bus_figures
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import TransientError
from tocsin_kit.filling import REFUSE_AT
from tocsin_kit.heartbeat import EVERY_SECONDS, Told, heartbeats
from tocsin_kit.publishing import fill_of
from tocsin_kit.store import translated
from tocsin_kit.topology import CONSUMERS, FACTS, READS, STREAMS, Consumer

SERVICES: tuple[str, ...] = tuple(dict.fromkeys(service for service, _ in READS))
"""Every service that a whole deployment has."""

SILENT_AFTER = timedelta(seconds=3 * EVERY_SECONDS)
"""A process that told nothing for so long is unknown."""

RECENT = timedelta(minutes=5)
"""How long an error makes a process degraded."""

FRESH = timedelta(seconds=2)
"""How long one look serves everybody who asks."""

log = logging.get(__name__)


class Status:
    """Looks at everything at once, at most once in two seconds, however many ask."""

    def __init__(self, client: Redis, bus: Bus, clock: Clock | None = None) -> None:
        self._client = client
        self._bus = bus
        self._clock = clock or SystemClock()
        self._looking = asyncio.Lock()
        self._seen: StatusView | None = None

    async def look(self) -> StatusView:
        """Return how everything is; it never fails, for what does not answer is unknown."""
        async with self._looking:
            now = self._clock.now()
            if self._seen is None or now - self._seen.at > FRESH:
                self._seen = await self._look(now)
            return self._seen

    async def _look(self, now: datetime) -> StatusView:
        beats, figures, store = await asyncio.gather(self._beats(), self._figures(), self._store())
        return status(now, beats, figures, store)

    async def _beats(self) -> list[Told]:
        try:
            return await heartbeats(self._client)
        except TransientError as error:
            log.info("status.no_heartbeats", why=str(error))
            return []

    async def _figures(self) -> BusFigures | None:
        try:
            return await bus_figures(self._bus.broker.connect)
        except TransientError as error:
            log.info("status.no_bus", why=str(error))
            return None

    async def _store(self) -> StoreView:
        try:
            async with translated("look at the store"):
                told = await self._client.info("persistence")
                memory = await self._client.info("memory")
        except TransientError as error:
            log.info("status.no_store", why=str(error))
            refused = isinstance(error.__cause__, ResponseError)
            why = "it may not be asked: INFO is refused" if refused else "it does not answer"
            return StoreView(condition=Condition.UNKNOWN, problems=(why,))
        return store_view({**told, **memory})


def status(
    now: datetime, beats: Sequence[Told], figures: BusFigures | None, store: StoreView
) -> StatusView:
    """Put together what was seen; None of the bus is: nothing was."""
    consumers = [consumer_view(consumer, figures) for consumer in CONSUMERS]
    services = tuple(
        service_view(
            name,
            [instance_view(one, now) for one in beats if one.beat.service == name],
            [one for one in consumers if one.service == name],
        )
        for name in SERVICES
    )
    streams = tuple(stream_view(str(stream.name), figures) for stream in STREAMS)
    parts = (*(one.condition for one in services), *(one.condition for one in streams))
    worst = Condition.worst(*parts, store.condition)
    return StatusView(condition=worst, at=now, services=services, streams=streams, store=store)


def instance_view(told: Told, now: datetime) -> InstanceView:
    """Return how one process is: silence is unknown, whatever it said before."""
    beat, age = told.beat, told.age
    erred = beat.last_error_at is not None and now - beat.last_error_at < RECENT
    condition = Condition.HEALTHY
    if age > SILENT_AFTER:
        condition = Condition.UNKNOWN
    elif erred or beat.notice or not beat.connected:
        condition = Condition.DEGRADED
    return InstanceView(
        service=beat.service,
        instance=beat.instance,
        condition=condition,
        version=beat.version,
        started_at=beat.started_at,
        seen_at=now - age,
        age_seconds=age.total_seconds(),
        in_flight=beat.in_flight,
        notice=beat.notice if beat.connected else "not connected to the bus",
        last_error=beat.last_error,
        last_error_at=beat.last_error_at,
    )


def consumer_view(consumer: Consumer, figures: BusFigures | None) -> ConsumerView:
    """Return how far a durable is; one that the bus does not have is degraded."""
    found = figures.consumers.get(consumer.durable) if figures else None
    return ConsumerView(
        durable=consumer.durable,
        service=consumer.durable.partition("-")[0],
        stream=consumer.stream,
        subject=consumer.subject,
        condition=_there(found, figures),
        lag=found.num_pending if found else None,
        ack_pending=found.num_ack_pending if found else None,
        redelivered=found.num_redelivered if found else None,
    )


def service_view(
    name: str, instances: Sequence[InstanceView], consumers: Sequence[ConsumerView]
) -> ServiceView:
    """Return how a service is: as its best process, unless a place of it in a stream lacks."""
    conditions = [one.condition for one in instances]
    best = Condition.HEALTHY if Condition.HEALTHY in conditions else Condition.worst(*conditions)
    places = [one.condition for one in consumers]
    return ServiceView(
        service=name,
        condition=Condition.worst(best, *places),
        instances=tuple(sorted(instances, key=lambda one: one.started_at)),
        consumers=tuple(consumers),
    )


def stream_view(name: str, figures: BusFigures | None) -> StreamView:
    """Return how full a stream is. That of facts is degraded where no run is opened any more."""
    found = figures.streams.get(name) if figures else None
    if found is None:
        return StreamView(stream=name, condition=_there(found, figures))
    fill = fill_of(found)
    full = name == FACTS and fill >= REFUSE_AT
    return StreamView(
        stream=name,
        condition=Condition.DEGRADED if full else Condition.HEALTHY,
        fill=fill,
        messages=found.state.messages,
        bytes=found.state.bytes,
    )


def store_view(told: Mapping[str, Any]) -> StoreView:
    """Return whether the store keeps what it is told, from what it says of itself."""
    logs = bool(told.get("aof_enabled"))
    problems = tuple(_store_problems(told, logs=logs))
    how = "every write is logged" if logs else "snapshots only, or nothing"
    condition = Condition.DEGRADED if problems else Condition.HEALTHY
    return StoreView(condition=condition, persistence=how, problems=problems)


def _store_problems(told: Mapping[str, Any], *, logs: bool) -> Iterable[str]:
    if not logs:
        yield "writes are not logged (appendonly no): a crash forgets them"
    if logs and told.get("aof_last_write_status", "ok") != "ok":
        yield "the last write to its log failed"
    policy = str(told.get("maxmemory_policy", "noeviction"))
    if policy != "noeviction":
        yield f"it forgets keys when it is full (maxmemory-policy {policy})"


def _there(found: object | None, figures: BusFigures | None) -> Condition:
    if figures is None:
        return Condition.UNKNOWN
    return Condition.DEGRADED if found is None else Condition.HEALTHY
