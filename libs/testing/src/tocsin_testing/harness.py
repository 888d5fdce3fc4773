"""One service on a real bus and store, with handlers that a test makes up."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import nats
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from redis.asyncio import Redis

from tocsin_contracts import BY_TOPIC, PREFIX, Event
from tocsin_kit import ensure, store
from tocsin_kit.bus import Bus
from tocsin_kit.client_errors import ClientErrors
from tocsin_kit.errors import TransientError
from tocsin_kit.run_view import RunReader
from tocsin_kit.runs import RunStore
from tocsin_kit.settings import ServiceSettings
from tocsin_kit.topology import FACTS, PARKED

BOUND = 20.0
"""Seconds a test waits for something that should happen; it goes on as soon as it has."""

LEASE = 1.0
"""Seconds until the bus and the store notice that a worker is gone."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rig:
    """The parts of one running service, and what it left on the bus."""

    bus: Bus
    runs: RunStore
    reader: RunReader
    redis: Redis
    js: JetStreamContext

    async def facts(self) -> list[Event]:
        """Return every event that is stored, in order."""
        return [_event(message) for message in await self._stored(FACTS)]

    async def letters(self) -> list[dict[str, str]]:
        """Return every dead letter that is stored, in order."""
        return [json.loads(message.data or b"") for message in await self._stored(PARKED)]

    async def waiting(self, durable: str, stream: str = FACTS) -> int:
        """Return how many messages a consumer has not settled yet."""
        info = await self.js.consumer_info(stream, durable)
        return (info.num_pending or 0) + (info.num_ack_pending or 0)

    async def settled(self, durable: str, stream: str = FACTS) -> None:
        """Wait until a consumer has settled every message."""
        await until(lambda: self.waiting(durable, stream), lambda count: count == 0)

    async def _stored(self, stream: str) -> list[RawStreamMsg]:
        state = (await self.js.stream_info(stream)).state
        if not state.messages:
            return []
        numbers = range(state.first_seq, state.last_seq + 1)
        return [await self.js.get_msg(stream, number) for number in numbers]


@asynccontextmanager
async def running(
    nats_url: str,
    redis_url: str,
    subscribe: Callable[[Bus], None] = lambda _: None,
    *,
    service: str = "rca",
    moves_runs: bool = True,
    **changes: Any,
) -> AsyncIterator[Rig]:
    """Yield a service that consumes what `subscribe` registers; it drains at the end."""
    await ensure.ensure(nats_url, ack_wait=LEASE)
    fast = {"ack_wait": LEASE, "lease_seconds": LEASE}
    chosen = settings(service, nats_url=nats_url, redis_url=redis_url, **(fast | changes))
    redis = store.connect(redis_url)
    runs = RunStore(redis, lease_seconds=chosen.lease_seconds, max_attempts=chosen.max_attempts)
    bus = Bus(chosen, runs, moves_runs=moves_runs)
    subscribe(bus)
    errors = ClientErrors(lambda _: None)  # the bus under test logs the outage already
    client = await nats.connect(
        nats_url,
        max_reconnect_attempts=-1,
        reconnect_time_wait=cast("int", 0.05),
        error_cb=errors.on_error,
    )
    try:
        await bus.start()
        yield Rig(bus, runs, RunReader(redis), redis, client.jetstream(timeout=1))
    finally:
        await bus.close()
        await client.close()
        errors.close()
        await redis.aclose()


def settings(service: str, **values: Any) -> ServiceSettings:
    """Return the settings of a service with these values."""

    class Settings(ServiceSettings):
        pass

    Settings.service = service
    return Settings(**values)


async def until(
    look: Callable[[], Awaitable[T]], reached: Callable[[T], bool], bound: float = BOUND
) -> T:
    """Return what is seen once it is as wanted; a bus that is away meanwhile is looked at again."""
    seen: T | None = None
    try:
        async with asyncio.timeout(bound):
            while True:
                with suppress(NatsError, TransientError):
                    seen = await look()
                    if reached(seen):
                        return seen
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within {bound:g} s; last seen: {seen!r}") from None


def _event(message: RawStreamMsg) -> Event:
    topic = (message.subject or "").removeprefix(f"{PREFIX}.").rsplit(".", 1)[0]
    return BY_TOPIC[topic].model_validate_json(message.data or b"")
