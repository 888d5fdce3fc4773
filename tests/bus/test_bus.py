"""The bus on real servers: what becomes of an event, whatever its handler does."""

import asyncio
import json
from collections import Counter
from contextlib import suppress

import pytest
from nats.aio.transport import TcpTransport

from tocsin_contracts import (
    HypothesisFormed,
    HypothesisRejected,
    IncidentOpened,
    RunCancelRequested,
    RunFinished,
    RunState,
)
from tocsin_kit.bus import Bus
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.moves import ANY, OPEN, move
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.harness import BOUND, running, settings, until

pytestmark = pytest.mark.servers

INVESTIGATE = move(RunState.RECEIVED, during=RunState.INVESTIGATING)
READER = "rca-opened"


class Handler:
    """Fails as often as it is told to, then forms a hypothesis; counts its calls."""

    def __init__(self, *failures):
        self.failures = list(failures)
        self.calls = []
        self.times = []

    async def __call__(self, event):
        """Form a hypothesis."""
        self.calls.append(event.run_id)
        self.times.append(asyncio.get_running_loop().time())
        if self.failures:
            raise self.failures.pop(0)
        return build.hypothesis_formed(run_id=event.run_id)

    def listen(self, bus):
        bus.on(IncidentOpened, self, INVESTIGATE)


def topics(events):
    return [event.topic for event in events]


def was_given(info):
    return info.delivered.consumer_seq > 0


async def handled(rig, *events):
    for event in events:
        await rig.bus.publish(event)
    await rig.settled(READER)


async def test_p5_an_event_published_twice_is_one_event(nats_url, redis_url):
    handler = Handler()
    async with running(nats_url, redis_url, handler.listen) as rig:
        await handled(rig, build.incident_opened(), build.incident_opened())
        assert topics(await rig.facts()) == [IncidentOpened.topic, HypothesisFormed.topic]
        assert handler.calls == [RUN]


async def test_what_a_handler_concludes_carries_its_lineage(nats_url, redis_url):
    async with running(nats_url, redis_url, Handler().listen) as rig:
        await handled(rig, build.incident_opened())
        opened, formed = await rig.facts()
        assert (formed.cause, formed.producer, formed.run_version) == (opened.id, "rca", 1)
        assert formed.id == formed.caused_by(opened.id, "rca").id
        assert (await rig.reader.get(RUN)).state is RunState.VALIDATING


async def test_a_transient_failure_comes_back_after_its_delay(nats_url, redis_url):
    handler = Handler(TransientError("not now", retry_in=0.2))
    async with running(nats_url, redis_url, handler.listen) as rig:
        await handled(rig, build.incident_opened())
        first, second = handler.times
        assert 0.15 < second - first < 2
        assert await rig.letters() == []


async def test_transient_failures_are_never_too_many(nats_url, redis_url):
    handler = Handler(*(TransientError("not now", retry_in=0.01) for _ in range(6)))
    async with running(nats_url, redis_url, handler.listen, max_attempts=2) as rig:
        await handled(rig, build.incident_opened())
        assert len(handler.calls) == 7
        assert (await rig.reader.get(RUN)).state is RunState.VALIDATING


async def test_p4_a_permanent_failure_is_parked_with_its_cause_and_ends_the_run_once(
    nats_url, redis_url
):
    handler = Handler(PermanentError("the manifest is no YAML"))
    async with running(nats_url, redis_url, handler.listen) as rig:
        opened = build.incident_opened()
        await handled(rig, opened)
        (letter,) = await rig.letters()
        assert letter["cause"] == "the manifest is no YAML"
        assert (letter["service"], letter["event_id"]) == ("rca", opened.id)
        assert json.loads(letter["body"])["run_id"] == RUN
        *_, ended = await rig.facts()
        assert topics(await rig.facts()) == [IncidentOpened.topic, RunFinished.topic]
        assert (ended.outcome, ended.reason.value) == (RunState.FAILED, "handler_failed")
        assert ended.sentence == "rca gave up: the manifest is no YAML"
        assert (await rig.reader.get(RUN)).state is RunState.FAILED
        assert len(handler.calls) == 1


async def test_a_service_that_only_watches_parks_without_ending_the_run(nats_url, redis_url):
    async def tell(event):
        raise PermanentError("the channel is gone")

    def listen(bus):
        bus.on(IncidentOpened, tell, ANY)

    watcher = {"service": "notifier", "moves_runs": False}
    async with running(nats_url, redis_url, listen, **watcher) as rig:
        await rig.bus.publish(build.incident_opened())
        await rig.settled("notifier-opened")
        assert [letter["service"] for letter in await rig.letters()] == ["notifier"]
        assert topics(await rig.facts()) == [IncidentOpened.topic]


@pytest.mark.parametrize("body", [b"", b"not JSON", b"[1]", b'{"run_id": "r1"}', b"\xff\xfe"])
async def test_p4_an_unreadable_message_is_parked_and_its_run_ends(nats_url, redis_url, body):
    handler = Handler()
    async with running(nats_url, redis_url, handler.listen) as rig:
        await rig.js.publish("tocsin.incident.opened.v1.r1", body)
        await rig.settled(READER)
        (letter,) = await rig.letters()
        assert "a message that is no IncidentOpened" in letter["cause"]
        assert (await rig.reader.get(RUN)).state is RunState.FAILED
        assert handler.calls == []


async def test_an_unreadable_message_of_no_possible_run_is_parked_all_the_same(nats_url, redis_url):
    async with running(nats_url, redis_url, Handler().listen) as rig:
        await rig.js.publish("tocsin.incident.opened.v1.no!run", b"nonsense")
        await rig.settled(READER)
        assert len(await rig.letters()) == 1


async def test_a_bug_is_retried_and_then_parked_and_ends_the_run(nats_url, redis_url):
    handler = Handler(KeyError("a"), KeyError("b"), KeyError("c"))
    async with running(nats_url, redis_url, handler.listen, max_attempts=2) as rig:
        await rig.bus.publish(build.incident_opened())
        await rig.settled(READER)
        (letter,) = await rig.letters()
        assert len(handler.calls) == 2
        assert "gave up after repeated failures" in letter["cause"]
        assert "KeyError" in letter["cause"]
        assert (await rig.reader.get(RUN)).state is RunState.FAILED


async def test_a_bug_that_goes_away_costs_nothing_but_its_backoff(nats_url, redis_url):
    handler = Handler(KeyError("a"))
    async with running(nats_url, redis_url, handler.listen, lease_seconds=30) as rig:
        await handled(rig, build.incident_opened())
        first, second = handler.times
        assert 0.4 < second - first < BOUND, "the lease of 30 s was given back"


async def test_p5_a_handler_that_takes_longer_than_the_bus_waits_runs_once(nats_url, redis_url):
    calls, done = Counter(), asyncio.Event()

    async def think(event):
        calls[event.run_id] += 1
        await asyncio.wait_for(done.wait(), BOUND)
        return build.hypothesis_formed()

    def listen(bus):
        bus.on(IncidentOpened, think, INVESTIGATE)

    async with running(nats_url, redis_url, listen) as rig, running(nats_url, redis_url, listen):
        await rig.bus.publish(build.incident_opened())
        asyncio.get_running_loop().call_later(2.5, done.set)
        await rig.settled(READER)
        assert calls == {RUN: 1}


async def test_p5_two_replicas_share_the_work_and_run_every_event_once(nats_url, redis_url):
    one, two = Handler(), Handler()
    runs = [f"r{number}" for number in range(40)]
    async with running(nats_url, redis_url, one.listen) as rig:
        async with running(nats_url, redis_url, two.listen):
            await handled(rig, *(build.incident_opened(run_id=run_id) for run_id in runs))
        assert Counter(one.calls + two.calls) == Counter(runs)
        assert one.calls
        assert two.calls
        formed = [event for event in await rig.facts() if event.topic == HypothesisFormed.topic]
        assert sorted(event.run_id for event in formed) == sorted(runs)


async def test_p5_events_of_one_run_are_handled_one_at_a_time(nats_url, redis_url):
    working, most = set(), []

    async def look(event):
        working.add(event.id)
        most.append(len(working))
        await asyncio.sleep(0)
        working.discard(event.id)

    def listen(bus):
        bus.on(IncidentOpened, look, OPEN)

    async with running(nats_url, redis_url, listen, concurrency=4) as rig:
        await handled(rig, *(build.incident_opened(id=f"e{number}") for number in range(4)))
        assert most == [1, 1, 1, 1]


async def test_p5_an_event_that_comes_early_waits_for_its_run(nats_url, redis_url):
    order = []

    async def note(event):
        order.append(event.topic)
        if isinstance(event, IncidentOpened):
            return build.hypothesis_formed()
        return None

    def listen(bus):
        bus.on(IncidentOpened, note, INVESTIGATE)
        bus.on(HypothesisRejected, note, move(RunState.VALIDATING))

    async with running(nats_url, redis_url, listen) as rig:
        await rig.runs.create(build.alert_accepted())
        await rig.bus.publish(build.hypothesis_rejected())
        await until(lambda: rig.js.consumer_info("TOCSIN", "rca-hypothesis-rejected"), was_given)
        await rig.bus.publish(build.incident_opened())
        await rig.settled("rca-hypothesis-rejected")
        assert order == [IncidentOpened.topic, HypothesisRejected.topic]


async def test_a_run_asked_to_stop_stops_the_handler_that_works_on_it(nats_url, redis_url):
    started, stopped = asyncio.Event(), asyncio.Event()

    async def think(event):
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            raise

    def listen(bus):
        bus.on(IncidentOpened, think, INVESTIGATE)

    async with running(nats_url, redis_url, listen) as rig:
        await rig.bus.publish(build.incident_opened())
        await asyncio.wait_for(started.wait(), BOUND)
        await rig.runs.cancel(RUN)
        await asyncio.wait_for(stopped.wait(), BOUND)
        assert topics(await rig.facts()) == [IncidentOpened.topic]
        assert await rig.letters() == []


async def test_a_stopping_service_finishes_what_it_works_on(nats_url, redis_url):
    started, thought = asyncio.Event(), asyncio.Event()

    async def think(event):
        started.set()
        await asyncio.wait_for(thought.wait(), BOUND)
        return build.hypothesis_formed()

    def listen(bus):
        bus.on(IncidentOpened, think, INVESTIGATE)

    async with running(nats_url, redis_url) as watching:
        async with running(nats_url, redis_url, listen) as rig:
            await rig.bus.publish(build.incident_opened())
            await asyncio.wait_for(started.wait(), BOUND)
            asyncio.get_running_loop().call_later(0.2, thought.set)
        assert topics(await watching.facts()) == [IncidentOpened.topic, HypothesisFormed.topic]
        assert await watching.waiting(READER) == 0


async def test_a_service_takes_up_what_came_while_it_was_away(nats_url, redis_url):
    handler = Handler()
    async with running(nats_url, redis_url) as rig:
        await rig.bus.publish(build.incident_opened())
    async with running(nats_url, redis_url, handler.listen) as rig:
        await rig.settled(READER)
    assert handler.calls == [RUN]


async def test_a_handler_of_an_event_that_its_service_does_not_read_stops_the_start():
    bus = Bus(settings("rca"), runs=None)
    with pytest.raises(PermanentError, match="'rca-finished' is not in the topology"):
        bus.on(RunFinished, Handler())


async def test_a_bus_that_does_not_store_says_so(own_nats_server, redis_url):
    async with running(own_nats_server.url, redis_url) as rig:
        await rig.bus.canary()
        own_nats_server.kill()
        with pytest.raises(TransientError, match="the bus did not store it"):
            await rig.bus.canary()


async def test_a_bus_that_is_closed_while_it_reconnects_stops_trying(
    own_nats_server, redis_url, monkeypatch
):
    trying = asyncio.Event()

    async def connect_and_lose_a_cancellation(*args, **options):
        first = not trying.is_set()
        trying.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(2 if first else 0)
        raise ConnectionRefusedError

    async with running(own_nats_server.url, redis_url):
        monkeypatch.setattr(TcpTransport, "connect", connect_and_lose_a_cancellation)
        own_nats_server.kill()
        await asyncio.wait_for(trying.wait(), BOUND)

    async def reconnecting():
        return {task.get_coro().__name__ for task in asyncio.all_tasks()} & {"_attempt_reconnect"}

    await until(reconnecting, lambda names: not names)


async def test_a_wish_to_stop_ends_the_run_once(nats_url, redis_url):
    async def end(event):
        return build.run_finished(outcome=RunState.CANCELLED)

    def listen(bus):
        bus.on(RunCancelRequested, end, OPEN)

    async with running(nats_url, redis_url, listen, service="action") as rig:
        await rig.bus.publish(build.run_cancel_requested())
        await rig.bus.publish(build.run_cancel_requested(id="again"))
        await rig.settled("action-cancel-requested")
        assert topics(await rig.facts()).count(RunFinished.topic) == 1
