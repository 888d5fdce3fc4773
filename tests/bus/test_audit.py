"""The audit on real servers: it follows the stream, cannot fork, and says what was done to it."""

import asyncio
import json
from contextlib import aclosing, asynccontextmanager

import pytest
import pytest_asyncio
from redis.exceptions import NoPermissionError

from tocsin_kit import keys, store
from tocsin_kit.audit import Auditor, Chain, checked, exported, verify
from tocsin_kit.audit_chain import Fault, Key, broken
from tocsin_kit.embedded import ValkeyServer
from tocsin_kit.feed import Feed
from tocsin_kit.publishes import Identity
from tocsin_testing import build
from tocsin_testing.harness import running, until

pytestmark = pytest.mark.servers

KEY = Key(b"k" * 32)


class Place:
    """A bus, a store, and replicas of the gateway that follow."""

    def __init__(self, bus, redis):
        self.bus, self.redis, self.feed = bus, redis, Feed.of(bus)
        self.chain = Chain(redis, KEY)

    async def decided(self, *numbers):
        for number in numbers:
            decision = build.decision(by=f"person-{number}")
            await self.bus.publish(build.approval_granted(id=f"{number:032x}", decision=decision))

    async def entries(self):
        async with aclosing(self.chain.entries()) as found:
            return [entry async for entry in found]

    @asynccontextmanager
    async def followed(self, replicas=1):
        tasks = [asyncio.create_task(Auditor(self.chain, self.feed).run()) for _ in range(replicas)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def grows_to(self, size):
        await until(self.entries, lambda found: len(found) == size)

    async def rewrite(self, number, change):
        """Change an entry as somebody with every right to the store could."""
        entries = [change(e) if e.number == number else e for e in await self.entries()]
        await self.redis.delete(keys.audit_chain())
        for entry in entries:
            fields = {"hash": entry.hash, "entry": entry.model_dump_json()}
            await self.redis.xadd(keys.audit_chain(), fields, id=f"{entry.number}-0")


@pytest_asyncio.fixture
async def place(nats_url, redis_url):
    async with running(nats_url, redis_url, service="gateway", moves_runs=False) as rig:
        yield Place(rig.bus, rig.redis)


async def test_p6_replicas_that_follow_together_make_one_chain_in_the_order_of_the_stream(place):
    await place.decided(*range(10))
    async with place.followed(replicas=3):
        await place.decided(*range(10, 20), 3)
        await place.bus.publish(build.plan_drafted(id="e" * 32))
        await place.grows_to(20)
    entries = await place.entries()
    assert [entry.number for entry in entries] == list(range(1, 21))
    assert [entry.event for entry in entries] == [f"{number:032x}" for number in range(20)]
    assert broken(entries, KEY) is None
    found = await checked(place.chain, place.feed, KEY)
    assert (found.entries, found.compared, found.waiting) == (20, 20, 0)
    assert (found.broken, found.head) == (None, entries[-1].hash)


async def test_what_the_store_has_lost_is_appended_again_from_the_stream(place):
    await place.decided(1, 2, 3)
    async with place.followed():
        await place.grows_to(3)
    before = await place.entries()
    await place.redis.delete(keys.audit_chain(), keys.audit_facts())
    found = await checked(place.chain, place.feed, KEY)
    assert (found.entries, found.waiting, found.broken) == (0, 3, None)
    async with place.followed():
        await place.grows_to(3)
    assert await place.entries() == before


async def test_p6_an_entry_that_was_changed_with_its_hash_is_found_by_the_next(place):
    await place.decided(1, 2, 3)
    async with place.followed():
        await place.grows_to(3)

    def another_person(entry):
        changed = entry.model_copy(update={"body": entry.body.replace("person-2", "mallory")})
        return changed.model_copy(update={"hash": changed.digest()})

    await place.rewrite(2, another_person)
    found = await checked(place.chain, place.feed)
    assert (found.broken.number, found.broken.fault) == (3, Fault.CUT_OFF)


async def test_p6_a_chain_made_anew_tells_another_story_than_the_stream(place):
    await place.decided(1, 2)
    async with place.followed():
        await place.grows_to(2)

    def another_person(entry):
        changed = entry.model_copy(update={"body": entry.body.replace("person-2", "mallory")})
        return changed.model_copy(update={"hash": changed.digest()})

    await place.rewrite(2, another_person)
    found = await checked(place.chain, place.feed)
    assert (found.broken.number, found.broken.fault) == (2, Fault.NOT_THE_FACT)


async def test_p6_a_fact_that_the_audit_does_not_tell_is_named(place):
    await place.decided(1)
    async with place.followed():
        await place.grows_to(1)
    facts = [fact async for fact in place.feed.past(0, await place.feed.newest())]
    await place.decided(2, 3)
    third = await anext(place.feed.facts(facts[-1].number + 1))
    await place.chain.append(third.number, third.event)
    found = await checked(place.chain, place.feed, KEY)
    assert (found.broken.fault, found.broken.event) == (Fault.MISSING, f"{2:032x}")


async def test_an_entry_that_cannot_be_read_is_named(place, nats_url, redis_url):
    await place.decided(1)
    async with place.followed():
        await place.grows_to(1)
    await place.redis.xadd(keys.audit_chain(), {"hash": "x", "entry": "{"}, id="2-0")
    found = await verify(nats_url, redis_url, prefix=keys.PREFIX, key=KEY)
    assert (found.entries, found.broken.number, found.broken.fault) == (1, 2, Fault.UNREADABLE)


async def test_what_is_exported_can_be_checked_elsewhere(place, redis_url):
    await place.decided(1, 2)
    async with place.followed():
        await place.grows_to(2)
    entries = await exported(redis_url, prefix=keys.PREFIX)
    assert entries == await place.entries()
    assert json.loads(entries[0].body)["decision"]["by"] == "person-1"


async def test_p6_the_gateway_can_append_and_nothing_else_and_others_not_even_that(tmp_path):
    passwords = {who: f"password-of-{who}" for who in Identity}
    with ValkeyServer(tmp_path, passwords=passwords) as server:
        gateway = store.connect(server.url_of(Identity.GATEWAY))
        action = store.connect(server.url_of(Identity.ACTION))
        chain, key = Chain(gateway), keys.audit_chain()
        await chain.append(1, build.approval_granted(id="a" * 32))
        for forbidden in (
            gateway.delete(key),
            gateway.xdel(key, "1-0"),
            gateway.xtrim(key, maxlen=0),
            gateway.delete(keys.audit_facts()),
            gateway.rename(key, "tocsin:other"),
            action.xadd(key, {"hash": "x"}),
            action.xrange(key),
        ):
            with pytest.raises(NoPermissionError):
                await forbidden
        assert (await chain.head()).number == 1
        await gateway.aclose()
        await action.aclose()
