"""Settings that change while services run: heard by each of them, and forgotten by none."""

import pytest

from tocsin_kit import keys, store
from tocsin_kit.live_settings import Change, Live, LiveSettings, LiveStore
from tocsin_kit.origins import explain
from tocsin_kit.parts import Parts
from tocsin_kit.settings import ServiceSettings
from tocsin_testing.build import NOW
from tocsin_testing.harness import settings

pytestmark = pytest.mark.servers


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


def change(value):
    return Change(value=value, by="ana", at=NOW)


async def test_a_change_is_heard_once_and_taken_back(redis):
    live, kept, heard = Live(), LiveStore(redis), []
    live.on_change(heard.append)
    await kept.set("max_attempts", change("7"))
    for _ in range(2):
        await live.look(kept)
    assert heard == [LiveSettings(max_attempts=7)]
    await kept.set("max_attempts", None)
    await live.look(kept)
    assert live.now == LiveSettings()


async def test_what_another_version_wrote_is_left_out_and_hides_nothing(redis):
    live, kept = Live(), LiveStore(redis)
    await kept.set("max_attempts", change("7"))
    await kept.set("log_level", change('"LOUD"'))
    await kept.set("later", change("1"))
    await redis.hset(keys.live_settings(), "investigation_calls", "no json")
    await live.look(kept)
    assert live.now == LiveSettings(max_attempts=7)


async def test_a_run_store_gives_up_after_as_many_tries_as_are_set_now(nats_url, redis_url):
    parts = Parts.of(settings("rca", nats_url=nats_url, redis_url=redis_url), moves_runs=False)
    kept = LiveStore(parts.redis)
    await kept.set("max_attempts", change("2"))
    await parts.live.look(kept)
    assert parts.runs._max_attempts == 2
    await kept.set("max_attempts", None)
    await parts.live.look(kept)
    assert parts.runs._max_attempts == 5
    await parts.aclose()


async def test_each_service_says_with_what_it_was_started(redis):
    class Settings(ServiceSettings):
        service = "rca"

    kept = LiveStore(redis)
    await kept.tell("rca", explain(Settings, ["--max-attempts=3"]))
    (told,) = [one for one in (await kept.explained())["rca"] if "ATTEMPTS" in one.variable]
    assert (told.value, told.origin, told.where) == ("3", "flag", "--max-attempts")
