"""Which commits are ours and who looks after an issue, on a real store."""

import asyncio
from datetime import timedelta

import pytest

from tocsin_contracts import RunState
from tocsin_kit import keys, store
from tocsin_kit.issues import Claim, Issues
from tocsin_kit.moves import move
from tocsin_kit.runs import RunStore
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN

pytestmark = pytest.mark.servers

KEY = build.plan().issue_key
OPENED = build.pull_request_opened(issue_key=KEY)
UPDATED = build.pull_request_updated(at=NOW + timedelta(hours=1))


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def issues(redis):
    return Issues(redis)


async def test_every_commit_of_ours_is_known_with_the_approval_that_made_it(issues):
    await issues.remember([build.incident_opened(), UPDATED, OPENED])
    first, second = await issues.written(KEY)
    assert (first.commit, first.opened, first.url) == (OPENED.commit, True, OPENED.url)
    assert (second.commit, second.opened) == (UPDATED.commit, False)
    assert (first.run_id, first.plan_hash) == (RUN, OPENED.plan_hash)
    assert await issues.written("another issue") == ()


async def test_p5_a_commit_that_is_told_twice_is_known_once_as_it_was_first(issues):
    await issues.remember([OPENED])
    await issues.remember([OPENED.model_copy(update={"run_id": "r9"})])
    (only,) = await issues.written(KEY)
    assert only.run_id == RUN


async def test_a_commit_without_an_issue_is_nobodys(issues):
    await issues.remember([build.pull_request_opened()])
    assert await issues.written("") == ()


async def test_p1_who_dies_after_the_commit_has_left_what_was_written(redis, issues):
    runs, allowed = RunStore(redis), move(RunState.RECEIVED)
    drafted = build.plan_drafted()
    begin = await runs.begin(drafted, "action", allowed)
    await runs.commit(begin.lease, allowed, drafted, [OPENED])
    (only,) = await issues.written(KEY)
    assert only.commit == OPENED.commit


async def test_the_first_look_at_an_end_is_its_time(issues):
    assert await issues.ended(KEY, "u1", NOW) == NOW
    assert await issues.ended(KEY, "u1", NOW + timedelta(hours=1)) == NOW
    assert await issues.ended(KEY, "u2", NOW + timedelta(hours=1)) == NOW + timedelta(hours=1)


async def test_p2_of_many_that_claim_a_thing_at_once_one_holds_it(issues):
    claims = [Claim(f"r{n}", KEY) for n in range(50)]
    held = await asyncio.gather(*(issues.claim("issue", claim) for claim in claims))
    assert len(set(held)) == 1
    assert await issues.claim("issue", held[0]) == held[0]


async def test_p2_of_many_that_take_over_from_one_that_ended_one_does(issues):
    ended = Claim("r0", KEY)
    await issues.claim("issue", ended)
    claims = [Claim(f"r{n}", KEY) for n in range(1, 50)]
    held = await asyncio.gather(*(issues.claim("issue", claim, ended) for claim in claims))
    assert len(set(held)) == 1
    assert held[0] != ended


async def test_records_are_kept_for_a_while_and_not_for_ever(redis, issues):
    await issues.remember([OPENED])
    await issues.claim("issue", Claim(RUN, KEY))
    for key in (keys.issue(KEY), keys.claim("issue")):
        assert 0 < await redis.pttl(key) <= timedelta(days=90).total_seconds() * 1000


async def test_a_no_is_known_until_it_has_cooled_down_and_the_last_one_counts(issues):
    assert await issues.refused_until("shop|another") is None
    for hours in (1, 24):
        await issues.refuse(KEY, NOW + timedelta(hours=hours))
    assert await issues.refused_until(KEY) == NOW + timedelta(hours=24)
