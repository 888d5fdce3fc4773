"""A store that was wiped: its runs are made again from the stream, and nothing is made up."""

import pytest

from tocsin_contracts import (
    ApprovalRequested,
    HypothesisFormed,
    IncidentOpened,
    PlanDrafted,
    RunFinished,
    RunState,
)
from tocsin_contracts.views import DecisionKind
from tocsin_kit.approvals import OWNER, Approvals, Refusal, read
from tocsin_kit.feed import Feed
from tocsin_kit.moves import move
from tocsin_kit.outbox import Outbox
from tocsin_kit.rebuilding import Rebuilding
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeClock
from tocsin_testing.harness import running

pytestmark = pytest.mark.servers

PLAN = build.plan_drafted()


def rebuilding(rig, **options):
    options = {"clock": FakeClock(NOW)} | options
    return Rebuilding(rig.redis, Feed.of(rig.bus), **options)


def pipeline(bus):
    async def investigate(event):
        return build.hypothesis_formed(run_id=event.run_id)

    bus.on(IncidentOpened, investigate, move(RunState.RECEIVED, during=RunState.INVESTIGATING))


async def ran(rig, run_id=RUN, *more):
    """Have a run pass through a real handler, and the other facts follow."""
    accepted = build.alert_accepted(run_id=run_id)
    await rig.runs.create(accepted)
    for event in (accepted, build.incident_opened(run_id=run_id)):
        await rig.bus.publish(event)
    await rig.settled("rca-opened")
    for event in more:
        await rig.bus.publish(event)


async def test_a_wiped_run_is_as_it_was_in_state_version_and_facts(nats_url, redis_url):
    async with running(nats_url, redis_url, pipeline) as rig:
        await ran(rig)
        before = await rig.reader.get(RUN)
        await rig.redis.flushall()
        (one,) = await rebuilding(rig).run()
        after = await rig.reader.get(RUN)
        assert (one.run_id, one.written, one.state) == (RUN, True, RunState.VALIDATING)
        assert (after.state, after.version) == (before.state, before.version)
        assert {t: f.id for t, f in after.facts.items()} == {
            t: f.id for t, f in before.facts.items()
        }
        assert [run.id for run in await rig.reader.recent(5)] == [RUN]
        assert await rig.redis.pttl(f"tocsin:run:{{{RUN}}}") > 0


async def test_a_run_goes_on_after_it_was_made_again(nats_url, redis_url):
    drafted = []

    def listen(bus):
        async def check(event):
            drafted.append(event.run_id)
            return build.plan_drafted(run_id=event.run_id)

        bus.on(HypothesisFormed, check, move(RunState.VALIDATING))

    async with running(nats_url, redis_url, pipeline) as rig:
        await ran(rig)
        await rig.redis.flushall()
        await rebuilding(rig).run(RUN)
    async with running(nats_url, redis_url, listen, service="validation") as rig:
        await rig.settled("validation-hypothesis-formed")
        assert drafted == [RUN]
        assert (await rig.reader.get(RUN)).fact(PlanDrafted) is not None


async def test_a_record_that_is_as_new_is_left_alone(nats_url, redis_url):
    async with running(nats_url, redis_url, pipeline) as rig:
        await ran(rig)
        await rig.redis.hset(f"tocsin:run:{{{RUN}}}", "mark", "ours")
        (one,) = await rebuilding(rig).run()
        assert not one.written
        assert await rig.redis.hget(f"tocsin:run:{{{RUN}}}", "mark") == "ours"


async def test_a_run_that_ended_stays_ended_whatever_was_told_after(nats_url, redis_url):
    async with running(nats_url, redis_url, pipeline) as rig:
        ended = build.run_finished(run_version=3)
        late = build.alert_repeated()
        await ran(rig, RUN, ended, late)
        await rig.redis.flushall()
        await rebuilding(rig).run()
        run = await rig.reader.get(RUN)
        assert (run.state, run.version) == (RunState.ESCALATED, 3)
        assert run.fact(RunFinished) is not None


async def test_a_run_that_was_reopened_has_no_end(nats_url, redis_url):
    async with running(nats_url, redis_url, pipeline) as rig:
        again = build.dead_letter_replayed(reopens=RunState.INVESTIGATING, run_version=4)
        await ran(rig, RUN, build.run_finished(run_version=3), again)
        await rig.redis.flushall()
        await rebuilding(rig).run()
        run = await rig.reader.get(RUN)
        assert (run.state, run.fact(RunFinished)) == (RunState.INVESTIGATING, None)


async def test_only_the_run_that_is_named_is_made_again(nats_url, redis_url):
    async with running(nats_url, redis_url, pipeline) as rig:
        await ran(rig, "a")
        await ran(rig, "b")
        await rig.redis.flushall()
        assert [one.run_id for one in await rebuilding(rig).run("b")] == ["b"]
        assert await rig.reader.get("a") is None


async def test_a_run_whose_beginning_the_stream_has_forgotten_is_not_made_up(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        await rig.bus.publish(build.hypothesis_formed())
        assert await rebuilding(rig).run() == []
        assert await rig.reader.get(RUN) is None


async def test_a_plan_that_waits_is_refused_where_its_approval_is_gone(nats_url, redis_url):
    async with running(nats_url, redis_url, pipeline) as rig:
        asked = build.approval_requested(run_version=2)
        await ran(rig, RUN, PLAN, asked)
        await rig.redis.flushall()
        await rebuilding(rig).run()
        run = await rig.reader.get(RUN)
        assert run.state is RunState.AWAITING_APPROVAL
        outbox = Outbox(rig.redis, OWNER, read, rig.bus.publish)
        taken = await Approvals(rig.redis, outbox).decide(
            run_id=RUN,
            plan_hash=run.fact(ApprovalRequested).plan.plan_hash,
            surface="gateway",
            answer=DecisionKind.GRANTED,
            by="ana",
            reason="",
        )
        assert taken.refusal is Refusal.UNKNOWN
