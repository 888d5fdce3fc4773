"""Heartbeats and figures on real servers: whoever stops is not missed, whoever is killed is."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from tocsin_contracts import IncidentOpened
from tocsin_contracts.status import Condition
from tocsin_kit import ensure, heartbeat, keys, store
from tocsin_kit.bus import Bus
from tocsin_kit.heartbeat import Heart, Vitals
from tocsin_kit.redaction import Redactor
from tocsin_kit.runs import RunStore
from tocsin_kit.status import Status
from tocsin_kit.topology import FACTS
from tocsin_testing import build
from tocsin_testing.harness import running, settings, until

pytestmark = pytest.mark.servers


def heart(redis, vitals=None, *, secrets=()):
    return Heart(
        redis,
        "rca",
        vitals=vitals or Vitals(),
        connected=lambda: True,
        redactor=Redactor(secrets),
    )


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


def rca(view):
    return next(one for one in view.services if one.service == "rca")


async def test_a_process_tells_how_it_is_until_it_stops(redis):
    beating = asyncio.create_task(heart(redis).run())
    told = await until(lambda: heartbeat.heartbeats(redis), bool)
    assert [(one.beat.service, one.beat.connected) for one in told] == [("rca", True)]
    beating.cancel()
    with suppress(asyncio.CancelledError):
        await beating
    assert await heartbeat.heartbeats(redis) == []
    assert await redis.keys("*heartbeat*") == []


async def test_the_age_of_a_heartbeat_is_told_by_the_clock_of_the_store(redis):
    one = heart(redis)
    await one.beat()
    await redis.expire(keys.heartbeat(one.instance), heartbeat.KEPT - timedelta(seconds=60))
    (told,) = await heartbeat.heartbeats(redis)
    assert told.age.total_seconds() == pytest.approx(60, abs=5)


async def test_one_heartbeat_that_cannot_be_read_hides_no_other(redis):
    await heart(redis).beat()
    await redis.zadd(keys.heartbeats(), {"older": 1})
    await redis.set(keys.heartbeat("older"), '{"service": "rca"}')
    assert len(await heartbeat.heartbeats(redis)) == 1


async def test_p6_the_last_error_is_told_without_secrets(redis):
    vitals = Vitals()
    vitals.failed("asked with hunter2-hunter2 and Bearer abcdefghijkl:\nno")
    await heart(redis, vitals, secrets=["hunter2-hunter2"]).beat()
    (told,) = await heartbeat.heartbeats(redis)
    assert told.beat.last_error == "asked with [redacted] and [redacted]: no"


async def test_status_sees_lag_errors_and_a_store_that_keeps(nats_url, redis_url):
    async def breaks(event: IncidentOpened) -> None:
        del event
        raise KeyError("x")

    async with running(nats_url, redis_url, lambda bus: bus.on(IncidentOpened, breaks)) as rig:
        await rig.bus.publish(build.incident_opened())
        await until(lambda: _value(rig.bus.vitals.last_error), bool)
        await Heart(
            rig.redis, "rca", vitals=rig.bus.vitals, connected=lambda: rig.bus.connected
        ).beat()
        seen = await Status(rig.redis, rig.bus).look()
        (instance,) = rca(seen).instances
        assert (instance.condition, instance.last_error) == (Condition.DEGRADED, "KeyError('x')")
        assert seen.store.condition is Condition.HEALTHY
        assert next(one for one in seen.streams if one.stream == FACTS).messages == 1
        behind = {one.durable: one.lag for one in _consumers(seen, "notifier")}
        assert behind["notifier-opened"] == 1
        assert all(one.condition is not Condition.UNKNOWN for one in _consumers(seen, "notifier"))
        assert "gateway" in seen.problems, "nobody has seen it"


async def test_many_who_ask_at_once_cost_one_look(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        status = Status(rig.redis, rig.bus)
        seen = await asyncio.gather(*(status.look() for _ in range(20)))
        assert len({id(one) for one in seen}) == 1


async def test_servers_that_are_away_are_unknown_within_seconds(own_nats_server, own_valkey_server):
    await ensure.ensure(own_nats_server.url, ack_wait=1)
    chosen = settings("gateway", nats_url=own_nats_server.url, redis_url=own_valkey_server.url)
    redis = store.connect(chosen.redis_url)
    bus = Bus(chosen, RunStore(redis))
    await bus.start()
    try:
        own_nats_server.stop()
        own_valkey_server.stop()
        async with asyncio.timeout(10):
            seen = await Status(redis, bus).look()
        assert seen.condition is Condition.UNKNOWN
        conditions = {one.condition for one in (*seen.services, *seen.streams, seen.store)}
        assert conditions == {Condition.UNKNOWN}
    finally:
        await bus.close()
        await redis.aclose()


async def _value(value):
    return value


def _consumers(seen, service):
    return next(one for one in seen.services if one.service == service).consumers
