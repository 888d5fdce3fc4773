"""Triage on real servers: what it knows of all runs together, whatever is killed in between."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import pytest

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    AlertStatus,
    IncidentOpened,
    RunFinished,
    RunState,
    RunSuperseded,
    Severity,
    StormStarted,
)
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.roles import triaging
from tocsin_ingest.settings import Settings
from tocsin_kit import intake, store
from tocsin_kit.joined import Joined
from tocsin_kit.late_news import MOST, LateNews
from tocsin_kit.moves import OPEN
from tocsin_kit.open_runs import OpenRuns
from tocsin_kit.outbox import Outbox
from tocsin_kit.parts import Parts
from tocsin_kit.runs import RunStore
from tocsin_kit.storms import Storms
from tocsin_kit.tickets import Tickets
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeClock
from tocsin_testing.harness import running, until

pytestmark = pytest.mark.servers


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def clock():
    return FakeClock()


def storms(redis, clock, threshold=2):
    return Storms(redis, window_seconds=60, threshold=threshold, clock=clock)


async def test_the_newest_open_runs_come_first_and_an_ended_one_is_gone(redis):
    runs = OpenRuns(redis)
    for minute, card in enumerate(["old", "ended", "new"]):
        await runs.add(NOW + timedelta(minutes=minute), card)
        await runs.add(NOW, card)
    await runs.remove("ended")
    assert await runs.newest(NOW, 10) == ["new", "old"]
    assert await runs.newest(NOW, 1) == ["new"]
    assert await runs.newest(NOW + timedelta(seconds=1), 10) == ["new"]


async def test_more_new_runs_than_the_threshold_within_a_window_are_a_storm(redis, clock):
    counting = storms(redis, clock)
    assert await counting.enter("r1", "n1") is None
    assert await counting.enter("r2", "n1") is None
    assert await counting.enter("r2", "n1") is None
    clock.advance(59)
    place = await counting.enter("r3", "n1")
    assert (place.storm, place.leader, place.new_runs) == ("r3", "r3", 3)
    assert (await counting.enter("r4", "n1")).leader == "r3"
    assert (await counting.enter("r5", "n2")).leader == "r5"


async def test_new_runs_one_after_the_other_are_no_storm(redis, clock):
    counting = storms(redis, clock)
    for number in range(10):
        assert await counting.enter(f"r{number}", "n1") is None
        clock.advance(31)


async def test_a_run_that_enters_twice_counts_once_and_keeps_its_place(redis, clock):
    counting = storms(redis, clock, threshold=0)
    first = await counting.enter("r1", "n1")
    assert await counting.enter("r1", "n1") == first
    assert (await counting.enter("r2", "n1")).new_runs == 2


async def test_an_ended_leader_is_replaced_by_one_run_only(redis, clock):
    counting = storms(redis, clock, threshold=0)
    await counting.enter("r1", "n1")
    assert (await counting.enter("r2", "n1", "r1")).leader == "r2"
    assert (await counting.enter("r3", "n1", "r1")).leader == "r2"


async def test_a_storm_ends_when_new_runs_are_few_and_its_digest_stays(redis, clock):
    counting = storms(redis, clock, threshold=4)
    for number in range(10):
        await counting.enter(f"r{number}", f"n{number % 3}")
    look = await counting.look("r4")
    assert (look.goes_on, look.new_runs, look.started_at) == (True, 10, NOW)
    clock.advance(61)
    looks = [await counting.look("r4") for _ in range(2)]
    assert looks[0] == looks[1]
    digest = looks[0].digest
    assert (looks[0].goes_on, digest.runs, digest.more) == (False, 6, 0)
    assert {root.root: root.runs for root in digest.roots} == {"n0": 2, "n1": 2, "n2": 2}
    assert await counting.enter("r11", "n1") is None


async def test_a_digest_lists_the_biggest_roots_and_counts_the_others(redis, clock):
    counting = storms(redis, clock, threshold=0)
    for number in range(30):
        await counting.enter(f"r{number}", "big" if number % 2 else f"n{number}")
    clock.advance(61)
    digest = (await counting.look("r0")).digest
    assert (digest.roots[0].root, digest.roots[0].runs) == ("big", 15)
    assert (len(digest.roots), digest.more) == (10, 6)


async def test_a_storm_whose_timer_was_lost_ends_with_the_next_run(redis, clock):
    counting = storms(redis, clock, threshold=1)
    for number in range(3):
        await counting.enter(f"r{number}", "n1")
    clock.advance(3600)
    assert await counting.enter("r9", "n1") is None
    assert (await counting.look("r1")).digest.runs == 2


class Queue:
    """Runs that ask for a turn, with records that say how far they have come."""

    def __init__(self, redis, clock, limit=1):
        self.runs = RunStore(redis, clock=clock)
        self.tickets = Tickets(redis, limit, clock)

    async def ask(self, run_id, rank=2, source="alertmanager"):
        await self.runs.create(build.alert_accepted(run_id=run_id))
        return (await self.tickets.take(run_id, rank, source)).granted

    async def end(self, run_id):
        await self.move(run_id, build.run_finished(run_id=run_id))

    async def move(self, run_id, event):
        begun = await self.runs.begin(event, "rca", OPEN)
        await self.runs.commit(begun.lease, OPEN, event, [event])


async def test_who_has_a_turn_keeps_it_and_the_others_wait(redis, clock):
    queue = Queue(redis, clock)
    assert await queue.ask("r1")
    assert not await queue.ask("r2")
    assert await queue.ask("r1")
    await queue.end("r1")
    assert await queue.ask("r2")


async def test_a_turn_is_over_when_the_run_has_left_its_investigation(redis, clock):
    queue = Queue(redis, clock)
    assert await queue.ask("r1")
    await queue.move("r1", build.hypothesis_formed(run_id="r1"))
    assert await queue.ask("r2")


async def test_the_most_urgent_run_that_waits_is_next(redis, clock):
    queue = Queue(redis, clock)
    assert await queue.ask("r1")
    assert not await queue.ask("low", rank=3)
    assert not await queue.ask("high", rank=1)
    await queue.end("r1")
    assert not await queue.ask("low", rank=3)
    assert await queue.ask("high", rank=1)


async def test_a_sender_with_many_runs_does_not_keep_another_one_waiting(redis, clock):
    queue = Queue(redis, clock, limit=2)
    assert await queue.ask("a1", source="loud")
    assert await queue.ask("a2", source="loud")
    assert not await queue.ask("a3", source="loud")
    clock.advance(1)
    assert not await queue.ask("b1", source="quiet")
    await queue.end("a1")
    assert not await queue.ask("a3", source="loud")
    assert await queue.ask("b1", source="quiet")


async def test_nothing_waits_for_ever_behind_what_is_more_urgent(redis, clock):
    queue = Queue(redis, clock)
    assert await queue.ask("r1")
    assert not await queue.ask("low", rank=3)
    for _ in range(12):
        clock.advance(59)
        await queue.ask("low", rank=3)
    assert not await queue.ask("high", rank=1)
    await queue.end("r1")
    assert await queue.ask("low", rank=3)


async def test_a_waiting_run_that_does_not_ask_any_more_keeps_nobody_waiting(redis, clock):
    queue = Queue(redis, clock)
    assert await queue.ask("r1")
    assert not await queue.ask("gone", rank=1)
    clock.advance(61)
    await queue.end("r1")
    assert await queue.ask("low", rank=4)


async def test_what_a_run_holds_is_given_back(redis, clock):
    queue = Queue(redis, clock)
    assert await queue.ask("r1")
    assert not await queue.ask("urgent", rank=1)
    await queue.tickets.leave("urgent")
    await queue.tickets.leave("r1")
    assert await queue.ask("r2", rank=4)


async def test_ten_that_ask_at_once_get_no_more_turns_than_there_are(redis, clock):
    queue = Queue(redis, clock, limit=3)
    granted = await asyncio.gather(*(queue.ask(f"r{n}") for n in range(10)))
    assert Counter(granted) == {True: 3, False: 7}


async def test_an_alert_is_news_of_a_run_once_and_only_so_many_are_kept(redis):
    news = LateNews(redis)
    for number in [*range(MOST + 5), 0]:
        alert = build.alert(fingerprint=f"f{number:03}")
        at = NOW + timedelta(seconds=number)
        await news.add(RUN, build.related_alert(alert=alert, at=at))
    kept = await news.of(RUN)
    assert [one.alert.fingerprint for one in kept] == [f"f{n:03}" for n in range(MOST)]


class Office:
    """Triage workers on real servers; the receiver's record stands by."""

    def __init__(self, nats_url, redis_url, **rules):
        self.nats_url, self.redis_url = nats_url, redis_url
        self.settings = Settings(
            dev=True, nats_url=nats_url, redis_url=redis_url, triage=rules, republish_seconds=0.2
        )
        self.stack = AsyncExitStack()

    async def __aenter__(self):
        await self.stack.__aenter__()
        self.rig = await self.work()
        self.outbox = Outbox(self.rig.redis, "ingest", intake.read, self.rig.bus.publish)
        self.intake = intake.Intake(self.rig.redis, self.outbox)
        self.receiver = Receiver(self.intake, self.rig.runs)
        return self

    async def __aexit__(self, *error):
        return await self.stack.__aexit__(*error)

    async def work(self):
        """Start one more worker."""

        def subscribe(bus):
            redis, raw = (store.connect(self.redis_url, text=text) for text in (True, False))
            self.stack.push_async_callback(redis.aclose)
            self.stack.push_async_callback(raw.aclose)
            parts = Parts.of(self.settings, moves_runs=True)
            wired = Parts(redis, raw, RunStore(redis), parts.reader, bus)
            self.stack.push_async_callback(parts.aclose)
            outbox = Outbox(redis, "ingest", intake.read, bus.publish)
            receiver = Receiver(intake.Intake(redis, outbox), wired.runs)
            triaging.subscribe(self.settings, wired, receiver)

        rig = running(self.nats_url, self.redis_url, subscribe, service="ingest")
        return await self.stack.enter_async_context(rig)

    async def investigated(self, run_id):
        """End a run as if the rest of the pipeline had."""
        ending = build.run_finished(run_id=run_id, outcome=RunState.NO_CHANGE)
        begun = await self.rig.runs.begin(ending, "rca", OPEN)
        for told in await self.rig.runs.commit(begun.lease, OPEN, ending, [ending]):
            await self.rig.bus.publish(told)

    async def facts(self, kind):
        return [fact for fact in await self.rig.facts() if isinstance(fact, kind)]


async def test_d13_a_silenced_alert_that_still_fires_opens_an_incident_once_the_silence_is_over(
    nats_url, redis_url
):
    now = datetime.now(UTC)
    silence = {
        "name": "drill",
        "matchers": ["alertname=X"],
        "start": now - timedelta(minutes=1),
        "end": now + timedelta(seconds=2),
    }
    async with Office(nats_url, redis_url, silences=[silence]) as office:
        alert = build.alert(labels={"alertname": "X"}, starts_at=now - timedelta(seconds=30))
        silenced = (await office.receiver.take(alert)).run_id
        ended = await until(lambda: office.facts(RunFinished), lambda facts: len(facts) == 1)
        assert (ended[0].run_id, ended[0].outcome) == (silenced, RunState.SUPPRESSED)
        await office.rig.settled("ingest-finished")
        assert (await office.receiver.take(alert)).run_id == silenced
        again = await until(
            lambda: office.receiver.take(alert), lambda admitted: admitted.run_id != silenced
        )
        assert datetime.now(UTC) >= silence["end"]
        opened = await until(lambda: office.facts(IncidentOpened), lambda facts: len(facts) == 1)
        assert opened[0].run_id == again.run_id


async def test_p1_a_run_that_waits_for_its_turn_survives_the_worker_that_it_waits_with(
    nats_url, redis_url
):
    async with Office(nats_url, redis_url, storm={"investigations": 1}) as office:
        for number in range(3):
            await office.receiver.take(build.alert(fingerprint=f"f{number}", workload=None))
        await until(lambda: office.facts(IncidentOpened), lambda facts: len(facts) == 1)
        await office.rig.bus.broker.stop()
        office.rig = await office.work()
        for count in (1, 2, 3):
            opened = await until(
                lambda: office.facts(IncidentOpened),
                lambda facts, count=count: len(facts) == count,
                bound=15,
            )
            await office.investigated(opened[-1].run_id)
        assert len({fact.run_id for fact in opened}) == 3


async def test_runs_that_joined_one_are_counted_once_and_known_by_their_incidents(redis):
    joined = Joined(redis)
    for run_id in ("r3", "r2", "r3"):
        await joined.add("r1", run_id, f"key of {run_id}")
    assert await joined.count("r1") == 2
    assert await joined.of("r1") == {"r2": "key of r2", "r3": "key of r3"}
    assert (await joined.count("r2"), await joined.of("r2")) == (0, {})


async def test_p1_the_run_that_took_another_one_over_hears_how_its_alert_goes_on(
    nats_url, redis_url
):
    async with Office(nats_url, redis_url, correlation={"mode": "on"}) as office:
        began = datetime.now(UTC) - timedelta(minutes=1)

        def alert(name, **changes):
            return build.alert(
                fingerprint=name,
                title=name,
                labels={"alertname": name, "node": "n1"},
                workload=None,
                starts_at=began,
                **{"severity": Severity.WARNING, **changes},
            )

        first = (await office.receiver.take(alert("first"))).run_id
        await until(lambda: office.facts(IncidentOpened), lambda facts: len(facts) == 1)
        second = (await office.receiver.take(alert("second"))).run_id
        await until(lambda: office.facts(RunFinished), lambda facts: len(facts) == 1)
        await office.rig.settled("ingest-finished")
        record = await office.rig.reader.get(second)
        assert (record.state, record.fact(RunSuperseded).into) == (RunState.SUPERSEDED, first)

        worse = alert("second", severity=Severity.CRITICAL)
        assert (await office.receiver.take(worse)).run_id == second
        repeated = await until(lambda: office.facts(AlertRepeated), lambda facts: len(facts) == 2)
        told = [(event.run_id, event.novelty, event.occurrences) for event in repeated]
        assert told == [(second, "severity", 2), (first, "severity", 1)]

        over = alert("second", status=AlertStatus.RESOLVED, ends_at=datetime.now(UTC))
        await office.receiver.take(over)
        cleared = await until(lambda: office.facts(AlertResolved), lambda facts: len(facts) == 2)
        assert [(event.run_id, event.still_firing) for event in cleared] == [
            (second, 0),
            (first, 1),
        ]
        await office.rig.bus.publish(cleared[0])
        await office.rig.settled("ingest-resolved")
        assert len(await office.facts(AlertResolved)) == 2
        assert not (await office.rig.reader.get(first)).state.terminal


async def test_p1_in_a_storm_every_run_waits_for_its_turn_or_is_looked_after_by_another(
    nats_url, redis_url
):
    rules = {
        "storm": {"new_runs": 4, "investigations": 2, "roots": ["node"]},
        "correlation": {"mode": "off"},
    }
    async with Office(nats_url, redis_url, **rules) as office:
        for number in range(12):
            alert = build.alert(
                fingerprint=f"f{number}", workload=None, labels={"node": f"n{number % 2}"}
            )
            await office.receiver.take(alert)

        merged = await until(lambda: office.facts(RunSuperseded), lambda facts: len(facts) == 6)
        await until(lambda: office.facts(StormStarted), lambda facts: len(facts) == 1)
        assert len(await office.facts(IncidentOpened)) == 2
        done = set()
        while len(done) < 6:
            for event in await office.facts(IncidentOpened):
                if event.run_id not in done:
                    done.add(event.run_id)
                    await office.investigated(event.run_id)
            await asyncio.sleep(0.05)
        accepted = {event.run_id for event in await office.facts(AlertAccepted)}
        ended = {event.run_id for event in await office.facts(RunFinished)}
        assert len(accepted) == 12
        assert accepted == ended
        assert done | {event.run_id for event in merged} == accepted
