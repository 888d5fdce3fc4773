"""Dead letters on a real bus and store: shown, given again once, thrown away, and told of."""

import asyncio
from datetime import timedelta

import pytest

from tocsin_contracts import HypothesisFormed, IncidentOpened, PlanDrafted, RunFinished, RunState
from tocsin_contracts.operations import DeadLetterDiscarded, DeadLetterReplayed
from tocsin_kit.errors import PermanentError
from tocsin_kit.intake import Intake
from tocsin_kit.moves import ANY, move
from tocsin_kit.outbox import Outbox
from tocsin_kit.parked import NotReplayedError, Parked, UnknownLetterError
from tocsin_kit.run_records import RunRecords
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakePublisher
from tocsin_testing.harness import running

pytestmark = pytest.mark.servers

INVESTIGATE = move(RunState.RECEIVED, during=RunState.INVESTIGATING)
READER = "rca-opened"


class Moody:
    """Refuses an event for good as often as it is told to, then forms a hypothesis."""

    def __init__(self, refusals=1):
        self.refusals = refusals
        self.ids = []

    async def __call__(self, event):
        """Form a hypothesis."""
        self.ids.append(event.id)
        if len(self.ids) <= self.refusals:
            raise PermanentError("the manifest is no YAML; password=hunter2-hunter2")
        return build.hypothesis_formed(run_id=event.run_id)

    def listen(self, bus):
        bus.on(IncidentOpened, self, INVESTIGATE)


def parked(rig):
    return Parked.of(rig.bus, rig.redis, producer="gateway")


async def failed(rig, **changes):
    """Have a run of an accepted alert fail because of one message."""
    await rig.runs.create(build.alert_accepted())
    await rig.bus.publish(build.incident_opened(**changes))
    await rig.settled(READER)
    assert (await rig.reader.get(RUN)).state is RunState.FAILED


async def test_letters_are_listed_newest_first_with_how_many_there_are(nats_url, redis_url):
    async with running(nats_url, redis_url, Moody(3).listen) as rig:
        for run in ("a", "b", "c"):
            await rig.bus.publish(build.incident_opened(run_id=run))
        await rig.settled(READER)
        page = await parked(rig).newest(limit=2)
        assert ([one.number for one in page.letters], page.total) == ([3, 2], 3)
        older = await parked(rig).newest(before=2)
        assert [one.run_id for one in older.letters] in (["a"], ["b"], ["c"])


async def test_secrets_of_a_letter_are_not_shown(nats_url, redis_url):
    async with running(nats_url, redis_url, Moody().listen) as rig:
        secret = build.alert(labels={"api_token": "abc-123", "pod": "p"}, summary="ghp_" + "a" * 30)
        await rig.bus.publish(build.incident_opened(alert=secret))
        await rig.settled(READER)
        letter = await parked(rig).get(1)
        shown = letter.model_dump_json()
        assert '\\"pod\\": \\"p\\"' in shown
        assert not any(word in shown for word in ("hunter2", "abc-123", "ghp_a"))
        assert (letter.topic, letter.tries, letter.ended_run) == (IncidentOpened.topic, 1, True)


async def test_a_replayed_letter_lets_the_run_go_on_where_it_failed(nats_url, redis_url):
    handler = Moody()
    async with running(nats_url, redis_url, handler.listen) as rig:
        await failed(rig)
        told = await parked(rig).replay(1, "ana", "mended")
        await rig.settled(READER)
        run = await rig.reader.get(RUN)
        assert run.state is RunState.VALIDATING
        assert (run.fact(RunFinished), run.fact(DeadLetterReplayed)) == (None, told)
        assert (told.by, told.reopens) == ("ana", RunState.INVESTIGATING)
        first, second = handler.ids
        assert first != second
        topics = [fact.topic for fact in await rig.facts()]
        assert topics[-3:] == [
            DeadLetterReplayed.topic,
            IncidentOpened.topic,
            HypothesisFormed.topic,
        ]
        assert (await rig.facts())[-2].cause == told.id
        assert (await parked(rig).newest()).total == 0


async def test_two_who_replay_one_letter_have_it_given_again_once(nats_url, redis_url):
    handler = Moody()
    async with running(nats_url, redis_url, handler.listen) as rig:
        await failed(rig)
        both = (parked(rig).replay(1, "ana"), parked(rig).replay(1, "bo"))
        done = await asyncio.gather(*both, return_exceptions=True)
        await rig.settled(READER)
        assert len(handler.ids) == 2
        assert any(isinstance(one, DeadLetterReplayed) for one in done)
        with pytest.raises(UnknownLetterError):
            await parked(rig).replay(1, "cy")


async def test_a_letter_that_fails_again_is_a_new_letter_and_ends_the_run_again(
    nats_url, redis_url
):
    async with running(nats_url, redis_url, Moody(2).listen) as rig:
        await failed(rig)
        await parked(rig).replay(1, "ana")
        await rig.settled(READER)
        page = await parked(rig).newest()
        assert [one.number for one in page.letters] == [2]
        assert (await rig.reader.get(RUN)).state is RunState.FAILED
        await parked(rig).replay(2, "ana")
        await rig.settled(READER)
        assert (await rig.reader.get(RUN)).state is RunState.VALIDATING


async def test_a_run_that_ended_otherwise_is_not_reopened(nats_url, redis_url):
    async with running(nats_url, redis_url, Moody().listen) as rig:
        await failed(rig)
        await rig.redis.hset(f"tocsin:run:{{{RUN}}}", "state", RunState.CANCELLED.value)
        with pytest.raises(NotReplayedError, match="cancelled"):
            await parked(rig).replay(1, "ana")
        assert (await parked(rig).newest()).total == 1
        assert not [fact for fact in await rig.facts() if fact.topic == DeadLetterReplayed.topic]


async def test_a_run_whose_alerts_have_a_newer_run_is_not_reopened(nats_url, redis_url):
    async with running(nats_url, redis_url, Moody().listen) as rig:
        bus = FakePublisher()
        intake = Intake(rig.redis, Outbox(rig.redis, "ingest", lambda *_: None, bus.publish))
        accepted = build.alert_accepted()
        opened = await intake.admit(accepted.incident_key, accepted.alert)
        await rig.runs.create(build.alert_accepted(run_id=opened.run_id))
        await rig.bus.publish(build.incident_opened(run_id=opened.run_id))
        await rig.settled(READER)
        await intake.close(accepted.incident_key, opened.run_id, build.NOW)
        newer = await intake.admit(accepted.incident_key, accepted.alert)
        with pytest.raises(NotReplayedError, match=newer.run_id):
            await parked(rig).replay(1, "ana")


@pytest.mark.parametrize("body", [b"not JSON", b'{"run_id": "r1"}'])
async def test_an_unreadable_message_is_not_given_again(nats_url, redis_url, body):
    async with running(nats_url, redis_url, Moody().listen) as rig:
        await rig.js.publish(f"tocsin.incident.opened.v1.{RUN}", body)
        await rig.settled(READER)
        with pytest.raises(NotReplayedError, match="unreadable"):
            await parked(rig).replay(1, "ana")


async def test_a_letter_of_a_service_that_only_watches_is_given_again_after_the_end(
    nats_url, redis_url
):
    seen = []

    async def tell(event):
        seen.append(event.id)
        if len(seen) == 1:
            raise PermanentError("the channel is gone")

    watcher = {"service": "notifier", "moves_runs": False}
    async with running(
        nats_url, redis_url, lambda bus: bus.on(RunFinished, tell, ANY), **watcher
    ) as rig:
        await rig.bus.publish(build.run_finished())
        await rig.settled("notifier-finished")
        told = await parked(rig).replay(1, "ana")
        await rig.settled("notifier-finished")
        assert (len(seen), told.reopens) == (2, None)


async def test_a_discarded_letter_is_gone_and_the_run_knows_by_whom_and_why(nats_url, redis_url):
    async with running(nats_url, redis_url, Moody().listen) as rig:
        await failed(rig)
        await parked(rig).discard(1, "ana", "a test alert")
        told = (await rig.reader.get(RUN)).fact(DeadLetterDiscarded)
        assert (told.by, told.reason, told.number) == ("ana", "a test alert", 1)
        assert "hunter2" not in told.why
        assert await parked(rig).get(1) is None
        with pytest.raises(UnknownLetterError):
            await parked(rig).discard(1, "ana", "again")


async def test_p7_a_record_keeps_every_fact_of_a_kind_once_whatever_their_order(
    nats_url, redis_url
):
    async with running(nats_url, redis_url) as rig:
        records = RunRecords(rig.redis)
        plans = [build.plan_drafted(id=f"p{n}", at=at(n)) for n in range(4)]
        await rig.runs.create(build.alert_accepted())
        for order in ((2, 0), (1, 2), (3, 0), (1,)):
            await records.note(RUN, *(plans[n] for n in order))
        run = await rig.reader.get(RUN)
        assert run.fact(PlanDrafted).id == "p3"
        assert [fact.id for fact in run.told if isinstance(fact, PlanDrafted)] == [
            "p0",
            "p1",
            "p2",
            "p3",
        ]
        assert run.forgotten == 0


async def test_a_record_keeps_the_newest_of_very_many_facts_of_a_kind_and_counts_the_others(
    nats_url, redis_url
):
    async with running(nats_url, redis_url) as rig:
        records = RunRecords(rig.redis)
        await rig.runs.create(build.alert_accepted())
        for _ in range(2):
            await records.note(
                RUN, *(build.alert_repeated(id=f"n{n}", at=at(n)) for n in range(30))
            )
        run = await rig.reader.get(RUN)
        told = [fact.id for fact in run.told][1:]
        assert told == [f"n{n}" for n in range(9, 30)]
        assert run.forgotten == 9


def at(seconds):
    return build.NOW + timedelta(seconds=seconds)
