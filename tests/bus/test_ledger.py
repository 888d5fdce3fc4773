"""The ledger on a real store: exact sums, whoever counts at the same time, a day at a time."""

import asyncio
from decimal import Decimal

import pytest

from tocsin_kit import store
from tocsin_kit.errors import TransientError
from tocsin_kit.ledger import KEPT_SECONDS, RedisLedger
from tocsin_kit.spending import Spending
from tocsin_testing.fakes import FakeClock

pytestmark = pytest.mark.servers

CALL = Spending(
    model_calls=1, tool_calls=2, tokens=1500, seconds=0.25, money=Decimal("0.000000125")
)


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def clock():
    return FakeClock()


async def test_a_day_begins_with_nothing_spent(redis, clock):
    assert await RedisLedger(redis, clock).today("alertmanager") == (Spending(), Spending())


async def test_a_spending_counts_for_its_source_and_for_the_day(redis, clock):
    ledger = RedisLedger(redis, clock)
    assert await ledger.count("alertmanager", CALL) == (CALL, CALL)
    assert await ledger.count("grafana", CALL) == (CALL, CALL + CALL)
    assert await ledger.today("alertmanager") == (CALL, CALL + CALL)
    assert await ledger.count("", CALL) == (CALL, CALL + CALL + CALL)


async def test_nothing_is_lost_when_many_count_at_once(redis, clock):
    workers = [RedisLedger(redis, clock) for _ in range(5)]
    await asyncio.gather(*(worker.count("a", CALL) for worker in workers for _ in range(20)))
    of_source, of_day = await workers[0].today("a")
    assert of_source == of_day
    assert (of_day.model_calls, of_day.tool_calls, of_day.tokens) == (100, 200, 150_000)
    assert (of_day.seconds, of_day.money) == (25, Decimal("0.0000125"))


async def test_the_price_stays_unknown_for_the_day_once_a_call_has_none(redis, clock):
    ledger = RedisLedger(redis, clock)
    await ledger.count("a", CALL)
    _, of_day = await ledger.count("a", Spending(model_calls=1, unpriced=1))
    assert (of_day.money, of_day.price) == (CALL.money, None)


async def test_the_next_day_starts_anew_and_old_accounts_expire(redis, clock):
    ledger = RedisLedger(redis, clock)
    await ledger.count("a", CALL)
    assert {await redis.ttl(key) for key in await redis.keys("tocsin:spent:*")} == {KEPT_SECONDS}
    clock.advance(86_400)
    assert await ledger.today("a") == (Spending(), Spending())


async def test_a_store_that_is_away_is_a_fault_that_passes(own_valkey_server, clock):
    client = store.connect(own_valkey_server.url)
    ledger = RedisLedger(client, clock)
    await ledger.count("a", CALL)
    own_valkey_server.stop()
    with pytest.raises(TransientError):
        await ledger.count("a", CALL)
    with pytest.raises(TransientError):
        await ledger.today("a")
    await client.aclose()
