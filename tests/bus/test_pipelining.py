"""Callers that share one request to the store: each gets its own answer, in order, or its error."""

import asyncio

import pytest
from redis.exceptions import RedisError, ResponseError

from tocsin_kit import store
from tocsin_kit.pipelining import MOST_COMMANDS
from tocsin_kit.store import Script
from tocsin_testing.harness import until

pytestmark = pytest.mark.servers


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def pipeline(redis):
    return store.pipeline(redis)


async def test_every_caller_gets_its_own_answers_in_order(pipeline):
    asked = (pipeline.ask(("INCR", "n"), ("ECHO", str(number))) for number in range(300))
    answers = await asyncio.gather(*asked)
    assert answers == [[number + 1, str(number)] for number in range(300)]


async def test_more_than_one_request_holds_is_sent_as_several(pipeline):
    answers = await asyncio.gather(*(pipeline.ask(("INCR", "n")) for _ in range(3 * MOST_COMMANDS)))
    assert [answer for (answer,) in answers] == list(range(1, 3 * MOST_COMMANDS + 1))


async def test_the_error_of_one_caller_is_nobody_elses(pipeline):
    wrong, right = await asyncio.gather(
        pipeline.ask(("SET", "s", "text"), ("INCR", "s")),
        pipeline.ask(("GET", "s")),
        return_exceptions=True,
    )
    assert isinstance(wrong, ResponseError)
    assert right == ["text"]


async def test_what_nobody_waits_for_is_sent_soon(pipeline, redis):
    pipeline.tell(("SET", "x", "1"))
    await until(lambda: redis.get("x"), lambda found: found == "1")


async def test_what_was_told_is_sent_before_the_client_closes(redis_url, redis):
    client = store.connect(redis_url)
    store.pipeline(client).tell(("SET", "x", "1"))
    await client.aclose()
    assert await redis.get("x") == "1"
    store.pipeline(client).tell(("SET", "x", "2"))
    with pytest.raises(RedisError, match="closed"):
        await store.pipeline(client).ask(("GET", "x"))
    assert await redis.get("x") == "1"


async def test_whoever_stops_waiting_takes_nothing_from_the_others(pipeline):
    first = asyncio.create_task(pipeline.ask(("ECHO", "first")))
    given_up = asyncio.create_task(pipeline.ask(("ECHO", "given up")))
    last = asyncio.create_task(pipeline.ask(("ECHO", "last")))
    await asyncio.sleep(0)
    given_up.cancel()
    assert await asyncio.gather(first, last) == [["first"], ["last"]]


async def test_p8_a_store_that_was_restarted_is_found_again(own_valkey_server):
    async with store.connect(own_valkey_server.url) as client:
        pipeline = store.pipeline(client)
        assert await pipeline.ask(("ECHO", "before")) == ["before"]
        own_valkey_server.kill()
        with pytest.raises(RedisError):
            await pipeline.ask(("ECHO", "meanwhile"))
        own_valkey_server.start()
        assert await pipeline.ask(("ECHO", "after")) == ["after"]


async def test_a_script_that_the_store_has_forgotten_is_loaded_again(redis):
    renew = Script(redis, "renew")
    for _ in range(2):
        await redis.script_flush()
        assert await renew(["run", "lease"], ["token", 1000]) == "lost"


async def test_a_store_that_is_silent_keeps_nobody_waiting(own_valkey_server, monkeypatch):
    monkeypatch.setattr("tocsin_kit.pipelining.ANSWER_SECONDS", 0.2)
    async with store.connect(own_valkey_server.url) as client:
        pipeline = store.pipeline(client)
        assert await pipeline.ask(("ECHO", "before")) == ["before"]
        await client.client_pause(60_000)
        async with asyncio.timeout(5):
            asked = [pipeline.ask(("ECHO", "meanwhile")) for _ in range(3)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(answer, RedisError) for answer in answers)
        async with store.connect(own_valkey_server.url) as other:
            await other.client_unpause()
        assert await pipeline.ask(("ECHO", "after")) == ["after"]
