"""The feed of facts: read once, given to many; who falls behind or comes back misses nothing."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.requests import ClientDisconnect

from tocsin_contracts import RunState, Severity
from tocsin_gateway.live import sse
from tocsin_gateway.live.hub import Hub, Listener
from tocsin_gateway.live.lines import Lines
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.feed import Fact
from tocsin_testing import build
from tocsin_testing.fake_feed import FakeFeed
from tocsin_testing.fakes import outage
from tocsin_testing.harness import until

FAR = 60.0
SOON = 0.01
ALL = sse.Wanted()


def facts(first, last):
    return [build.incident_opened(run_id=f"r{number}") for number in range(first, last + 1)]


def lines(*events):
    return [Lines().of(Fact(number, event)) for number, event in enumerate(events, 1)]


@asynccontextmanager
async def reading(feed, **bounds):
    hub = Hub(feed, **bounds)
    task = asyncio.create_task(hub.run())
    try:
        yield hub
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def caught_up(feed, hub):
    newest = await feed.newest()
    await until(lambda: asyncio.sleep(0, hub._number), lambda number: number == newest)


class Client:
    """One stream; `ids` and `data` are what it was given."""

    def __init__(self, hub, wanted=ALL, last_event_id="", beat=FAR, who="ana"):
        answer = sse.stream(hub, wanted, last_event_id, who=who, beat=beat)
        self._frames = answer.body_iterator
        self.frames = []

    async def take(self, count):
        """Read so many frames; the first of a stream says from where it goes on."""
        async with asyncio.timeout(2):
            for _ in range(count):
                self.frames.append(await anext(self._frames))
        return self

    async def leave(self):
        await self._frames.aclose()

    @property
    def ids(self):
        return [int(frame.partition("id: ")[2].split()[0]) for frame in self.frames[1:]]

    @property
    def data(self):
        told = [frame.partition("data: ")[2] for frame in self.frames if "data: " in frame]
        return [json.loads(one) for one in told]


async def test_who_listens_is_told_what_comes_and_not_what_was():
    feed = FakeFeed(*facts(1, 3))
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        client = await Client(hub).take(1)
        await feed.add(*facts(4, 5))
        await client.take(2)
    assert "id: 3\n" in client.frames[0]
    assert "data:" not in client.frames[0]
    assert client.ids == [4, 5]
    assert client.data[0]["run_id"] == "r4"
    assert client.data[0]["text"] == "Triage let the investigation begin."


async def test_every_listener_is_told_from_one_reading():
    feed = FakeFeed()
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        clients = [await Client(hub, who=f"{number % 5}").take(1) for number in range(100)]
        await feed.add(*facts(1, 20))
        for client in clients:
            await client.take(20)
    assert all(client.ids == list(range(1, 21)) for client in clients)
    assert feed.looked == []


async def test_who_comes_back_goes_on_after_the_last_number_without_a_gap():
    feed = FakeFeed(*facts(1, 9))
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        client = await Client(hub, last_event_id="4").take(6)
        await feed.add(*facts(10, 11))
        await client.take(2)
    assert client.ids == list(range(5, 12))
    assert feed.looked == []


async def test_what_is_no_longer_remembered_is_read_from_the_stream_again():
    feed = FakeFeed(*facts(1, 30))
    async with reading(feed, remembered=5) as hub:
        await caught_up(feed, hub)
        client = await Client(hub, last_event_id="2").take(29)
        await feed.add(*facts(31, 40))
        await client.take(10)
    assert client.ids == list(range(3, 41))
    assert feed.looked == [(2, 30)]


async def test_what_comes_while_the_past_is_told_follows_it():
    feed = FakeFeed(*facts(1, 9))
    async with reading(feed, remembered=2) as hub:
        await caught_up(feed, hub)
        client = await Client(hub, last_event_id="5").take(2)
        await feed.add(*facts(10, 12))
        await caught_up(feed, hub)
        await client.take(6)
    assert client.ids == list(range(6, 13))


async def test_a_gateway_that_has_just_started_tells_nobody_old_facts_as_new():
    feed = FakeFeed(*facts(1, 9))
    async with reading(feed) as hub:
        await until(lambda: asyncio.sleep(0, hub._number), lambda number: number is not None)
        client = await Client(hub).take(1)
        await feed.add(*facts(10, 10))
        await client.take(1)
    assert client.ids == [10]


@pytest.mark.parametrize("last", ["", "x", "-1", "9" * 30, "٣", "99"])
async def test_an_id_that_is_none_or_was_never_given_resumes_from_now(last):
    feed = FakeFeed(*facts(1, 3))
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        client = await Client(hub, last_event_id=last).take(1)
        await feed.add(*facts(4, 4))
        await client.take(1)
    assert client.ids == [4]


async def test_silence_has_a_beat_that_carries_the_number_that_was_reached():
    feed = FakeFeed(*facts(1, 3))
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        client = await Client(hub, sse.Wanted(run="r9"), beat=SOON).take(2)
        await feed.add(*facts(4, 8))
        await caught_up(feed, hub)
        await client.take(1)
    assert client.frames[-1] == ": beat\nid: 8\n\n"
    assert client.data == []


async def test_who_falls_behind_is_sent_away_and_holds_up_nobody():
    feed = FakeFeed()
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        slow, quick = await Client(hub).take(1), await Client(hub).take(1)
        for number in range(1, 301):
            await feed.add(*facts(number, number))
            await quick.take(1)
        with pytest.raises(StopAsyncIteration):
            await slow.take(1)
        back = await Client(hub, last_event_id="0").take(301)
    assert quick.ids == back.ids == list(range(1, 301))


async def test_what_waits_for_one_client_is_bounded():
    listener = Listener(most=2)
    for line in lines(*facts(1, 3)):
        listener.give(line)
    assert listener.ended
    assert await listener.next() is None


async def test_every_stream_ends_with_the_gateway():
    feed = FakeFeed()
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        client = await Client(hub).take(1)
    with pytest.raises(StopAsyncIteration):
        await client.take(1)


async def test_p3_a_stream_ends_in_time_so_that_its_client_shows_again_who_it_is():
    feed = FakeFeed(*facts(1, 3))
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        answer = sse.stream(hub, ALL, "1", who="ana", lasts=0)
        frames = [frame async for frame in answer.body_iterator]
        again = await Client(hub, last_event_id=frames[-1].split()[-1]).take(3)
    assert len(frames) == 1
    assert again.ids == [2, 3]


async def test_only_so_many_listen_and_a_place_is_free_again():
    feed = FakeFeed()
    async with reading(feed, most=1) as hub:
        await caught_up(feed, hub)
        first = await Client(hub).take(1)
        with pytest.raises(RefusedError, match="listen already"):
            Client(hub)
        await first.leave()
        await Client(hub).take(1)


async def test_a_burst_of_clients_gets_no_more_places_than_there_are():
    feed = FakeFeed()
    async with reading(feed, most=9, most_of_one=3) as hub:
        await caught_up(feed, hub)
        answers = [refused(hub, who) for who in ("ana", "bo", "cy", "di") for _ in range(5)]
    assert answers == [0, 0, 0, 429, 429] * 3 + [503] * 5


def refused(hub, who):
    """Return how a client is answered that reads nothing yet; 0 if it got its place."""
    try:
        sse.stream(hub, ALL, who=who)
    except RefusedError as error:
        return error.status * int("Retry-After" in error.headers)
    return 0


async def test_a_client_that_goes_before_the_first_line_gives_its_place_back():
    feed = FakeFeed()
    async with reading(feed, most=1) as hub:
        await caught_up(feed, hub)
        answer = sse.stream(hub, ALL, who="ana")

        async def gone(_=None):
            raise ConnectionResetError

        with pytest.raises(ClientDisconnect):
            await answer({"type": "http", "asgi": {"spec_version": "2.4"}}, gone, gone)
        await Client(hub).take(1)


async def test_who_is_sent_away_and_does_not_go_keeps_its_place():
    feed = FakeFeed()
    async with reading(feed, most=1) as hub:
        await caught_up(feed, hub)
        slow = await Client(hub).take(1)
        await feed.add(*facts(1, 300))
        await caught_up(feed, hub)
        assert refused(hub, "ana") == 503
        await slow.leave()
        assert refused(hub, "ana") == 0


async def test_a_bus_that_is_away_at_the_start_is_waited_for(monkeypatch):
    monkeypatch.setattr("tocsin_gateway.live.hub.RETRY_SECONDS", 0)
    feed = FakeFeed(*facts(1, 1))
    feed.down = outage()
    async with reading(feed) as hub:
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="not read yet"):
            hub.join("ana")
        feed.down = None
        await caught_up(feed, hub)
        hub.join("ana")


async def test_a_stream_that_was_made_anew_is_told_from_its_beginning():
    feed = FakeFeed(*facts(1, 9))
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        old = await Client(hub).take(1)
        await feed.renew(*facts(1, 2))
        with pytest.raises(StopAsyncIteration):
            await old.take(1)
        client = await Client(hub, last_event_id="0").take(3)
    assert client.ids == [1, 2]


async def test_a_fact_that_cannot_be_read_is_left_out_and_counted():
    feed = FakeFeed()
    async with reading(feed) as hub:
        await caught_up(feed, hub)
        client = await Client(hub, beat=SOON).take(1)
        await feed.add(None)
        await caught_up(feed, hub)
        again = await Client(hub).take(1)
        await feed.add(*facts(2, 2))
        while client.ids[-1:] != [2]:
            await client.take(1)
    assert len(client.data) == 1
    assert "id: 1\n" in again.frames[0]


LOUD = build.alert(severity=Severity.CRITICAL)


@pytest.mark.parametrize(
    ("wanted", "has"),
    [
        ({}, True),
        ({"run": "r1"}, True),
        ({"run": "r2"}, False),
        ({"severity": ("critical",)}, True),
        ({"severity": ("info", "warning")}, False),
        ({"topic": ("alert",)}, True),
        ({"topic": ("approval", "alert.accepted.v1")}, True),
        ({"topic": ("approval",)}, False),
        ({"run": "r1", "topic": ("approval",)}, False),
    ],
)
def test_a_client_chooses_by_run_severity_and_topic(wanted, has):
    (line,) = lines(build.alert_accepted(run_id="r1", alert=LOUD))
    assert sse.Wanted(**wanted).has(line) is has


def test_what_has_an_unknown_severity_is_hidden_from_nobody():
    (line,) = lines(build.approval_granted())
    assert line.severity is None
    assert sse.Wanted(severity=(Severity.CRITICAL,)).has(line)


def test_a_fact_that_names_no_alert_is_about_that_of_its_run():
    told = Lines()
    told.of(Fact(1, build.alert_accepted(alert=LOUD)))
    line = told.of(Fact(2, build.run_finished()))
    assert (line.severity, line.title) == (Severity.CRITICAL, LOUD.title)
    assert line.state is RunState.ESCALATED


def test_only_so_many_runs_are_remembered():
    told = Lines(most=2)
    for number in range(3):
        told.of(Fact(number + 1, build.alert_accepted(run_id=f"r{number}", alert=LOUD)))
    assert told.of(Fact(4, build.run_finished(run_id="r0"))).severity is None
    assert told.of(Fact(5, build.run_finished(run_id="r1"))).severity is Severity.CRITICAL
