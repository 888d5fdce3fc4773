"""The outbox heals a crash between storing and publishing, and forgets what is done."""

import asyncio

import pytest

from tocsin_contracts import IncidentOpened
from tocsin_kit import keys, store
from tocsin_kit.notices import Notices
from tocsin_kit.outbox import SETTLE_MS, Outbox, Stored
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeClock, FakePublisher, outage
from tocsin_testing.harness import BOUND, until

pytestmark = pytest.mark.servers

RECORD = "tocsin:incident:{x}"
INDEX = keys.outbox("test")


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def bus():
    return FakePublisher()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def outbox(redis, bus, clock):
    return Outbox(redis, "test", read, bus.publish, clock)


def read(field, value):
    return IncidentOpened.model_validate_json(value)


async def stored(redis, outbox, *events):
    await outbox.announce(RECORD)
    for number, event in enumerate(events):
        await redis.hset(RECORD, f"out:{number}", event.model_dump_json())


async def test_p1_what_waits_is_published_once_and_forgotten(redis, outbox, bus):
    events = [build.incident_opened(id=f"e{number}") for number in range(3)]
    await stored(redis, outbox, *events)
    assert await outbox.flush() == 3
    assert bus.published == events
    assert await outbox.flush() == 0
    assert await redis.exists(RECORD) == 0


async def test_what_the_bus_did_not_take_waits_on(redis, outbox, bus):
    await stored(redis, outbox, build.incident_opened())
    bus.down = outage()
    assert await outbox.flush() == 0
    bus.down = None
    assert await outbox.flush() == 1


async def test_a_field_that_is_no_event_is_left_alone(redis, outbox, bus):
    await outbox.announce(RECORD)
    await redis.hset(RECORD, "run", "r1")
    assert await outbox.flush() == 0
    assert await redis.hgetall(RECORD) == {"run": "r1"}


async def test_an_announced_record_has_its_time_to_store_before_it_is_forgotten(
    redis, outbox, clock
):
    await outbox.announce(RECORD)
    clock.advance(SETTLE_MS / 1000 - 1)
    await outbox.flush()
    assert await redis.zcard(INDEX) == 1
    clock.advance(2)
    await outbox.flush()
    assert await redis.zcard(INDEX) == 0


async def test_p1_a_ticket_that_is_taken_away_leaves_those_of_others(redis, outbox, bus):
    mine, other = await outbox.announce(RECORD), await outbox.announce(RECORD)
    await redis.hset(RECORD, "out:1", build.incident_opened().model_dump_json())
    outbox.drop(mine)
    await until(lambda: redis.zrange(INDEX, 0, -1), lambda tickets: tickets == [other])
    assert await outbox.flush() == 1


async def test_what_was_stored_just_now_is_left_to_whoever_stored_it(redis, outbox, clock):
    await stored(redis, outbox, build.incident_opened())
    clock.advance(1)
    assert await outbox.flush(waiting_for=2) == 0
    clock.advance(2)
    assert await outbox.flush(waiting_for=2) == 1


async def test_a_look_sees_only_what_waits_however_many_records_there_are(redis, outbox):
    for number in range(20):
        key = f"tocsin:incident:{{{number}}}"
        event = build.incident_opened(id=f"e{number}")
        ticket = await outbox.announce(key)
        await redis.hset(key, mapping={"run": "r1", "out:1": event.model_dump_json()})
        await outbox.send(Stored(key, "out:1", event, ticket))
    await until(lambda: redis.zcard(INDEX), lambda count: count == 0)
    assert await outbox.flush() == 0


async def test_p8_flushing_goes_on_over_an_outage_until_it_is_stopped(redis):
    tried, published = [], asyncio.Event()

    async def publish(event):
        tried.append(event)
        if len(tried) == 1:
            raise outage()
        published.set()

    outbox = Outbox(redis, "test", read, publish)
    await stored(redis, outbox, build.incident_opened())
    flushing = asyncio.create_task(outbox.keep_flushing(0.01))
    await asyncio.wait_for(published.wait(), BOUND)
    flushing.cancel()
    await asyncio.wait([flushing], timeout=BOUND)
    assert flushing.cancelled()


async def test_a_cancellation_always_reaches_whoever_asks_the_store(redis):
    for _ in range(50):
        asked = asyncio.Event()
        asking = asyncio.create_task(ask_without_an_end(redis, asked))
        await asked.wait()
        asking.cancel()
        await asyncio.wait([asking], timeout=BOUND)
        assert asking.cancelled()


async def ask_without_an_end(redis, asked):
    while True:
        await redis.get("x")
        asked.set()
        await redis.get("y")


async def test_sending_settles_the_field_it_was_stored_in(redis, outbox, bus):
    event = build.incident_opened()
    await stored(redis, outbox, event)
    await outbox.send(Stored(RECORD, "out:0", event))
    await until(lambda: redis.exists(RECORD), lambda found: found == 0)


async def test_p7_a_notice_is_told_once_per_channel_and_message(redis):
    notices = Notices(redis)
    assert not (await notices.of(RUN)).has("log", "e1")
    await notices.settle(RUN, "e1", "log")
    told = await notices.of(RUN)
    assert told.has("log", "e1")
    assert not told.has("webhook", "e1")
    assert not told.has("log", "e2")
    assert await redis.ttl(keys.notice(RUN)) > 0


async def test_a_notice_that_is_held_is_not_told_and_one_that_was_told_stays_so(redis):
    notices = Notices(redis)
    for channel in ("chat", "mail"):
        await notices.hold(RUN, "e1", channel)
    await notices.settle(RUN, "e1", "mail")
    await notices.hold(RUN, "e1", "mail")
    told = await notices.of(RUN)
    assert [told.has(channel, "e1") for channel in ("chat", "mail")] == [False, True]
    assert told.held() == {"chat": {"e1"}}
    assert told.heard() == {"chat", "mail"}


async def test_p8_a_record_that_cannot_be_sent_holds_back_no_other(redis, outbox, bus):
    await redis.zadd(INDEX, {"tocsin:incident:{broken}": 1})
    await redis.hset("tocsin:incident:{broken}", "out:1", "no event at all")
    await stored(redis, outbox, build.incident_opened())
    assert await outbox.flush() == 1
    assert len(bus.published) == 1
