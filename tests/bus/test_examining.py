"""What `tocsin doctor` says of bus and store, on real ones that are well and that are not."""

import nats
import pytest
from redis.asyncio import Redis

from tocsin_contracts.doctor import Condition
from tocsin_kit import examining
from tocsin_kit.ensure import ensure
from tocsin_kit.topology import FACTS
from tocsin_testing.harness import LEASE

pytestmark = pytest.mark.servers

NOBODY = "127.0.0.1:9"


def by_thing(found):
    return {one.thing: one for one in found}


async def test_a_bus_with_all_its_streams_is_well(nats_url):
    await ensure(nats_url, ack_wait=LEASE)
    found = await examining.bus(nats_url, LEASE)
    assert [one.condition for one in found] == [Condition.OK] * 4
    assert not any(one.do for one in found)


async def test_a_bus_without_streams_says_what_makes_them(nats_url):
    found = by_thing(await examining.bus(nats_url, LEASE))
    assert found["server"].condition is Condition.OK
    assert found["rights"].condition is Condition.PROBLEM
    assert f"{FACTS} is missing" in found["streams"].told
    assert "tocsin topology apply" in found["streams"].do
    assert found["consumers"].condition is Condition.PROBLEM


async def test_a_stream_that_drifted_is_named_with_the_difference(nats_url):
    await ensure(nats_url, ack_wait=LEASE)
    client = await nats.connect(nats_url)
    js = client.jetstream()
    config = (await js.stream_info(FACTS)).config
    config.max_age = 86400
    await js.update_stream(config)
    await client.close()
    found = by_thing(await examining.bus(nats_url, LEASE + 1))
    assert f"{FACTS}: max_age is 86400" in found["streams"].told
    assert "ack_wait" in found["consumers"].told


async def test_a_bus_that_does_not_answer_is_one_problem():
    (found,) = await examining.bus(f"nats://{NOBODY}", LEASE)
    assert (found.condition, found.do) == (
        Condition.PROBLEM,
        "start it, or set TOCSIN_NATS_URL",
    )


async def test_a_store_says_whether_it_keeps_what_it_is_given(redis_url):
    client = Redis.from_url(redis_url, decode_responses=True)
    before = (await client.config_get("appendonly"))["appendonly"]
    try:
        await client.config_set("appendonly", "yes")
        well = by_thing(await examining.run_store(redis_url))
        await client.config_set("appendonly", "no")
        ill = by_thing(await examining.run_store(redis_url))
    finally:
        await client.config_set("appendonly", before)
        await client.aclose()
    assert well["persistence"].condition is Condition.OK
    assert (well["clock"].condition, well["eviction"].condition) == (Condition.OK, Condition.OK)
    assert ill["persistence"].condition is Condition.WARNING
    assert ill["persistence"].do == "set `appendonly yes`"


async def test_a_store_that_throws_things_away_is_a_problem(redis_url):
    client = Redis.from_url(redis_url, decode_responses=True)
    try:
        await client.config_set("maxmemory-policy", "allkeys-lru")
        unbounded = by_thing(await examining.run_store(redis_url))
        await client.config_set("maxmemory", "100mb")
        bounded = by_thing(await examining.run_store(redis_url))
    finally:
        await client.config_set("maxmemory-policy", "noeviction")
        await client.config_set("maxmemory", "0")
        await client.aclose()
    assert unbounded["eviction"].condition is Condition.WARNING
    assert bounded["eviction"].condition is Condition.PROBLEM


async def test_a_store_that_does_not_answer_is_one_problem():
    (found,) = await examining.run_store(f"redis://{NOBODY}")
    assert (found.condition, found.thing) == (Condition.PROBLEM, "server")
