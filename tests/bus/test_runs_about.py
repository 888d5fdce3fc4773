"""Runs about the same thing find each other, on a real store, however many there are."""

from datetime import timedelta

import pytest

from tocsin_contracts import RunId
from tocsin_kit import keys, store
from tocsin_kit.errors import TransientError
from tocsin_kit.runs_about import MOST, RunsAbout
from tocsin_testing.build import NOW

pytestmark = pytest.mark.servers


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


async def met(redis, number, *things):
    at = NOW + timedelta(minutes=number)
    return await RunsAbout(redis).meet(RunId(f"r{number}"), at, things)


async def test_a_run_meets_the_others_about_any_of_its_things_the_newest_first(redis):
    assert await met(redis, 1, "incident a", "workload x") == ()
    assert await met(redis, 2, "incident b", "workload x") == ("r1",)
    assert await met(redis, 3, "incident c", "workload y") == ()
    assert await met(redis, 4, "incident a", "workload x") == ("r2", "r1")
    assert await met(redis, 5) == ()


async def test_to_meet_again_changes_nothing(redis):
    await met(redis, 1, "a")
    await met(redis, 2, "a")
    await RunsAbout(redis).meet(RunId("r1"), NOW + timedelta(days=1), ["a"])
    assert await met(redis, 3, "a") == ("r2", "r1")


async def test_only_the_newest_are_remembered_and_not_for_ever(redis):
    for number in range(MOST + 5):
        found = await met(redis, number, "a")
    assert found == tuple(f"r{number}" for number in range(MOST + 3, 4, -1))
    assert 0 < await redis.pttl(keys.about("a")) <= timedelta(days=30).total_seconds() * 1000


async def test_a_store_that_is_away_is_a_matter_of_time():
    client = store.connect("redis://127.0.0.1:1/0")
    with pytest.raises(TransientError, match="about the same as run 'r1'"):
        await met(client, 1, "a")
    await client.aclose()


async def test_what_was_about_a_thing_is_told_without_being_remembered(redis):
    await met(redis, 1, "a")
    await met(redis, 2, "a", "b")
    assert await RunsAbout(redis).of("a") == ("r2", "r1")
    assert await RunsAbout(redis).of("c") == ()
    assert await redis.dbsize() == 2
