"""The feed of facts on a real bus: in order and without a gap, whatever becomes of the server."""

import asyncio
from contextlib import aclosing, asynccontextmanager, suppress

import pytest
from nats.aio.subscription import Subscription

from tocsin_contracts import ApprovalDenied, ApprovalGranted
from tocsin_gateway.live import sse
from tocsin_gateway.live.hub import Hub
from tocsin_kit.ensure import connected
from tocsin_kit.feed import Feed
from tocsin_kit.topology import FACTS, STREAMS
from tocsin_testing import build
from tocsin_testing.harness import running, until

pytestmark = pytest.mark.servers


async def publish(rig, first, last):
    for number in range(first, last + 1):
        await rig.bus.publish(build.incident_opened(run_id=f"r{number}"))


async def take(facts, count, within=10):
    async with asyncio.timeout(within):
        return [await anext(facts) for _ in range(count)]


def numbers(facts):
    return [fact.number for fact in facts]


@asynccontextmanager
async def hub_of(rig, **bounds):
    hub = Hub(Feed.of(rig.bus), **bounds)
    task = asyncio.create_task(hub.run())

    async def reads():
        newest = await Feed.of(rig.bus).newest()
        return hub._number == newest

    try:
        await until(reads, bool)
        yield hub
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def listen(hub, last_event_id, upto, who="ana"):
    """Return the numbers that a client is given, until it has seen a number."""
    seen = []
    answer = sse.stream(hub, sse.Wanted(), last_event_id, who=who)
    async with aclosing(answer.body_iterator) as frames:
        async for frame in frames:
            if "data: " in frame:
                seen.append(int(frame.partition("id: ")[2].split()[0]))
            if seen and seen[-1] >= upto:
                break
    return seen


async def test_only_the_kinds_that_are_asked_for_are_read_and_what_comes_later_too(
    nats_url, redis_url
):
    async with running(nats_url, redis_url) as rig:
        await publish(rig, 1, 3)
        await rig.bus.publish(build.approval_granted())
        feed, kinds = Feed.of(rig.bus), (ApprovalGranted, ApprovalDenied)
        past = [fact async for fact in feed.past(0, await feed.newest(), kinds=kinds)]
        assert [(fact.number, type(fact.event)) for fact in past] == [(4, ApprovalGranted)]
        async with aclosing(feed.facts(4, kinds=kinds)) as facts:
            await publish(rig, 4, 5)
            await rig.bus.publish(build.approval_denied())
            assert numbers(await take(facts, 1)) == [7]


async def test_facts_come_in_order_the_old_ones_and_the_new(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        await publish(rig, 1, 5)
        async with aclosing(Feed.of(rig.bus).facts(2)) as facts:
            old = await take(facts, 3)
            await publish(rig, 6, 230)
            new = await take(facts, 225)
        assert numbers(old + new) == list(range(3, 231))
        assert new[0].event.run_id == "r6"
        assert await Feed.of(rig.bus).newest() == 230


async def test_the_past_ends_where_it_is_asked_to_and_where_no_more_is_kept(nats_url, redis_url):
    async with connected(nats_url) as client:  # a stream of an older version, that lets go of facts
        await client.jetstream().add_stream(STREAMS[0].evolve(deny_delete=False))
    async with running(nats_url, redis_url) as rig:
        await publish(rig, 1, 9)
        feed = Feed.of(rig.bus)
        async with aclosing(feed.past(3, 7)) as facts:
            assert [fact.number async for fact in facts] == [4, 5, 6, 7]
        await rig.js.delete_msg(FACTS, 9)
        async with aclosing(feed.past(6, 9)) as facts:
            assert [fact.number async for fact in facts] == [7, 8]


async def test_a_message_that_is_no_event_is_a_number_without_one(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        await rig.js.publish("tocsin.alert.accepted.v1.r1", b"nonsense")
        await rig.js.publish("tocsin.made.of.later.v9.r1", b"{}")
        await publish(rig, 3, 3)
        async with aclosing(Feed.of(rig.bus).facts(0)) as facts:
            found = await take(facts, 3)
        assert [fact.event is None for fact in found] == [True, True, False]


async def test_nothing_of_a_reader_that_left_stays_on_the_server(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        before = (await rig.js.stream_info(FACTS)).state.consumer_count
        await publish(rig, 1, 1)
        async with aclosing(Feed.of(rig.bus).facts(0)) as facts:
            await take(facts, 1)
            assert (await rig.js.stream_info(FACTS)).state.consumer_count == before + 1
        assert (await rig.js.stream_info(FACTS)).state.consumer_count == before


async def test_a_consumer_that_the_server_lost_is_made_anew(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        known = {one.name for one in await rig.js.consumers_info(FACTS)}
        await publish(rig, 1, 1)
        async with aclosing(Feed.of(rig.bus).facts(0)) as facts:
            seen = await take(facts, 1)
            (mine,) = {one.name for one in await rig.js.consumers_info(FACTS)} - known
            await rig.js.delete_consumer(FACTS, mine)
            await publish(rig, 2, 4)
            seen += await take(facts, 3)
        assert numbers(seen) == [1, 2, 3, 4]


async def test_100_clients_miss_nothing_of_a_server_that_is_killed(own_nats_server, redis_url):
    async with (
        running(own_nats_server.url, redis_url, service="gateway") as rig,
        hub_of(rig, remembered=20) as hub,
    ):
        await publish(rig, 1, 30)
        await until(lambda: asyncio.sleep(0, hub.number), lambda number: number == 30)
        each = (listen(hub, str(n % 30), 60, f"dashboard {n % 4}") for n in range(100))
        clients = [asyncio.create_task(one) for one in each]
        await publish(rig, 31, 40)
        own_nats_server.kill()
        own_nats_server.start()
        for number in range(41, 61):
            event = build.incident_opened(run_id=f"r{number}")
            await until(lambda event=event: rig.bus.publish(event), lambda _: True, 10)
        async with asyncio.timeout(20):
            seen = await asyncio.gather(*clients)
    assert [one == list(range(n % 30 + 1, 61)) for n, one in enumerate(seen)] == [True] * 100


async def test_who_is_stopped_stops_although_the_client_loses_the_cancellation(
    nats_url, redis_url, monkeypatch
):
    next_msg, lost = Subscription.next_msg, asyncio.Event()

    async def losing(self, timeout):
        try:
            return await next_msg(self, timeout)
        except asyncio.CancelledError:
            lost.set()
            return await next_msg(self, timeout)

    async with running(nats_url, redis_url) as rig:
        monkeypatch.setattr(Subscription, "next_msg", losing)
        facts = Feed.of(rig.bus).facts(0)
        await publish(rig, 1, 1)
        await take(facts, 1)
        waiting = asyncio.create_task(anext(facts))
        await asyncio.sleep(0.1)
        waiting.cancel()
        _, left = await asyncio.wait({waiting}, timeout=20)
        assert left == set()
        assert lost.is_set()
        await facts.aclose()
