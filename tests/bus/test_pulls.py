"""A pull request finds the run that opened it, on a real store and a real bus."""

import pytest

from tocsin_contracts import RunState
from tocsin_kit import keys, store
from tocsin_kit.moves import move
from tocsin_kit.pulls import Pulls
from tocsin_kit.runs import RunStore
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.harness import running

pytestmark = pytest.mark.servers

OPENED = build.pull_request_opened()
PLACE = (OPENED.repo, OPENED.head_branch, OPENED.url)


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def pulls(redis):
    return Pulls(redis)


async def test_an_opened_pull_request_is_found_by_its_address_and_by_its_branch(pulls):
    await pulls.remember([build.incident_opened(), OPENED])
    repo, branch, url = PLACE
    assert await pulls.run_of(repo, branch, url) == RUN
    assert await pulls.run_of("", "", url) == RUN
    assert await pulls.run_of(repo.upper(), branch, "https://forge.example/other/7") == RUN


@pytest.mark.parametrize(
    "place",
    [
        ("another/repo", PLACE[1], ""),
        (PLACE[0], f"mallory:{PLACE[1]}", ""),
        (PLACE[0], "", ""),
        ("", PLACE[1], ""),
        ("", "", ""),
    ],
    ids=["repository", "fork", "no branch", "no repository", "nothing"],
)
async def test_what_is_not_that_pull_request_finds_no_run(pulls, place):
    await pulls.remember([OPENED])
    assert await pulls.run_of(*place) is None


async def test_of_two_runs_with_one_branch_the_later_has_it(pulls):
    await pulls.remember([OPENED])
    await pulls.remember([build.pull_request_opened(run_id="r2")])
    assert await pulls.run_of(*PLACE) == "r2"


async def test_it_is_kept_as_long_as_the_run(redis):
    await Pulls(redis, ttl_days=1).remember([OPENED])
    assert 0 < await redis.pttl(keys.pull(OPENED.url)) <= 86_400_000


async def test_p1_who_dies_after_the_commit_has_left_the_way_back_to_the_run(redis, pulls):
    runs = RunStore(redis)
    drafted, allowed = build.plan_drafted(), move(RunState.RECEIVED)
    begin = await runs.begin(drafted, "action", allowed)
    await runs.commit(begin.lease, allowed, drafted, [OPENED])
    assert await pulls.run_of(*PLACE) == RUN


async def test_p5_a_delivery_of_a_forge_that_comes_twice_is_one_fact_on_the_bus(
    nats_url, redis_url
):
    event = build.forge_event_received()
    async with running(nats_url, redis_url) as rig:
        await rig.bus.publish(event)
        await rig.bus.publish(event.model_copy(update={"run_id": "r2"}))
        assert await rig.facts() == [event]


async def test_a_run_that_only_follows_a_pull_request_is_found_by_it_too(pulls):
    await pulls.remember([OPENED])
    await pulls.remember([build.pull_request_found(run_id="r2")])
    assert await pulls.run_of(*PLACE) == "r2"
    await pulls.remember([build.pull_request_updated(run_id="r3")])
    assert await pulls.run_of(*PLACE) == "r3"
