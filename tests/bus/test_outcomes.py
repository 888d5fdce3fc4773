"""Outcomes in the store: the newest wins in whatever order it is told, and ratings stay apart."""

import asyncio
from datetime import timedelta

import pytest

from tocsin_contracts import RunFinished, RunState
from tocsin_contracts.outcomes import Rateable, Rated, RatingView, RunOutcome
from tocsin_gateway.outcomes.handlers import OutcomeHandlers
from tocsin_kit import keys, store
from tocsin_kit.outcomes import OutcomeRecords
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.harness import running, until

pytestmark = pytest.mark.servers


def row(version, run_id=RUN, **known):
    return RunOutcome(run_id=run_id, version=version, source="grafana", began_at=NOW, **known)


def rating(minutes, *, useful, by="ana"):
    at = NOW + timedelta(minutes=minutes)
    return RatingView(run_id=RUN, by=by, about=Rateable.FIX, useful=useful, at=at)


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


async def test_a_later_version_wins_and_says_what_it_replaced(redis):
    records = OutcomeRecords(redis)
    assert (await records.keep(row(2))).before is None
    kept = await records.keep(row(3, merged=True))
    assert (kept.newest, kept.before) == (True, row(2))
    assert not (await records.keep(row(1))).newest
    assert not (await records.keep(row(3, merged=True))).newest
    (judged,) = await records.since(NOW)
    assert judged.outcome == row(3, merged=True)


async def test_of_many_at_once_exactly_one_is_the_first(redis):
    records = OutcomeRecords(redis)
    kept = await asyncio.gather(*(records.keep(row(1)) for _ in range(20)))
    assert sum(one.newest for one in kept) == 1


async def test_the_newest_rating_of_a_person_counts_and_hides_nobody_else(redis):
    records = OutcomeRecords(redis)
    assert await records.rate(rating(2, useful=False))
    assert not await records.rate(rating(1, useful=True))
    assert await records.rate(rating(0, useful=True, by="bo"))
    said = await records.ratings(RUN)
    assert [(one.by, one.useful) for one in said] == [("bo", True), ("ana", False)]
    assert await records.since(NOW) == [], "a rating alone is no outcome"


async def test_a_person_who_says_the_same_again_has_no_second_opinion(redis):
    records = OutcomeRecords(redis)
    said = [
        await records.rate(rating(at, useful=useful))
        for at, useful in enumerate((True, True, False, False, True))
    ]
    assert said == [True, False, True, False, True]
    assert [one.useful for one in await records.ratings(RUN)] == [True]


async def test_only_runs_that_began_since_then_are_listed(redis):
    records = OutcomeRecords(redis)
    await records.keep(row(1))
    assert await records.since(NOW + timedelta(seconds=1)) == []
    assert len(await records.since(NOW)) == 1
    assert await redis.ttl(keys.outcome(RUN)) > 0


async def test_events_alone_bring_outcomes_to_the_store(nats_url, redis_url):
    client = store.connect(redis_url)
    records = OutcomeRecords(client)

    def listen(bus):
        OutcomeHandlers(Known(), records).listen(bus)

    async with running(nats_url, redis_url, listen, service="gateway", moves_runs=False) as rig:
        await rig.bus.publish(build.run_finished())
        said = Rated(run_id=RUN, by="ana", about=Rateable.FIX, useful=True, at=NOW)
        await rig.bus.publish(said.caused_by("r1:rated", "gateway"))
        await until(lambda: records.since(NOW - timedelta(days=1)), bool)
        await until(lambda: records.ratings(RUN), bool)
        (judged,) = await records.since(NOW - timedelta(days=1))
        assert judged.outcome.outcome is RunState.ESCALATED
        assert len(judged.ratings) == 1
    await client.aclose()


class Known:
    """A reader of one run that has ended."""

    async def get(self, run_id):
        return build.run(build.alert_accepted(), build.event(RunFinished))
