"""One server is kept connected, whatever it does, and its tools are called by the rules."""

import asyncio

import pytest

from tocsin_contracts.capability import Capability
from tocsin_kit.errors import TransientError
from tocsin_mcp.errors import LostError, NotOfferedError, RefusedError, SilentError
from tocsin_mcp.pins import Pins
from tocsin_mcp.servers import Servers
from tocsin_mcp.session import State
from tocsin_testing.fakes import FakeClock
from tocsin_testing.harness import until
from tocsin_testing.mcp import FakeServer, listed, server

GONE = LostError("the wire is cut")


class SlowClock(FakeClock):
    """Time that passes only when a test says so; remembers how long it was to be waited."""

    def __init__(self):
        super().__init__()
        self.waits = []
        self.go = asyncio.Semaphore(0)

    async def sleep(self, seconds):
        self.waits.append(seconds)
        await self.go.acquire()
        self.advance(seconds)


@pytest.fixture
def pins(tmp_path):
    return Pins(tmp_path / "pins.json", trust_first=True)


def servers(pins, *peers, clock=None, **changes):
    names = [f"s{place}" for place in range(len(peers))]
    by_name = dict(zip(names, peers, strict=True))
    return Servers(
        [server(name, **changes) for name in names],
        pins,
        connect=lambda one: by_name[one.name].connect(one),
        clock=clock or FakeClock(),
        chance=lambda: 1.0,
    )


async def state(session, wanted):
    async def look():
        return session.state

    await until(look, lambda found: found is wanted)


async def test_a_tool_is_called_and_its_progress_told(pins):
    shop, heard = FakeServer(listed("Look")), []

    async def hear(text):
        heard.append(text)

    async with servers(pins, shop) as running:
        answer = await running.sessions["s0"].call("look", {"at": 1}, hear)
    assert answer.text == "Look done"
    assert shop.calls == [("Look", {"at": 1})]
    assert heard == ["half"]
    assert shop.open == 0


async def test_what_is_not_offered_is_never_called(pins):
    shop = FakeServer(listed("look"), listed("buy"))
    async with servers(pins, shop, allow=["look"]) as running:
        for name in ("buy", "steal"):
            with pytest.raises(NotOfferedError, match=name):
                await running.sessions["s0"].call(name, {})
    assert shop.calls == []


async def test_a_read_is_tried_once_more_on_a_new_connection(pins):
    shop = FakeServer(listed("look"))
    shop.faults.append(GONE)
    async with servers(pins, shop) as running:
        assert (await running.sessions["s0"].call("look", {})).text == "look done"
    assert len(shop.calls) == 2
    assert shop.connects == 2


async def test_a_read_that_fails_twice_is_given_up(pins):
    shop = FakeServer(listed("look"))
    shop.faults.extend([GONE, GONE])
    async with servers(pins, shop) as running:
        with pytest.raises(LostError, match="'s0' is away: the wire is cut"):
            await running.sessions["s0"].call("look", {})
    assert len(shop.calls) == 2


@pytest.mark.parametrize("capability", sorted(set(Capability) - {Capability.READ}))
async def test_nothing_but_a_read_is_tried_twice(pins, capability):
    shop = FakeServer(listed("buy"))
    shop.faults.append(GONE)
    async with servers(pins, shop, capabilities={"*": capability}) as running:
        with pytest.raises(LostError):
            await running.sessions["s0"].call("buy", {})
        await state(running.sessions["s0"], State.READY)
        await running.sessions["s0"].call("buy", {})
    assert len(shop.calls) == 2


async def test_a_refusal_is_not_a_lost_connection(pins):
    shop = FakeServer(listed("look"))
    shop.faults.append(RefusedError("unknown argument"))
    async with servers(pins, shop) as running:
        with pytest.raises(RefusedError, match="unknown argument"):
            await running.sessions["s0"].call("look", {})
    assert (shop.connects, len(shop.calls)) == (1, 1)


async def test_tries_to_connect_come_less_and_less_often(pins):
    shop, clock = FakeServer(listed("look")), SlowClock()
    shop.refusals.extend([GONE] * 4)
    async with servers(pins, shop, clock=clock) as running:
        session = running.sessions["s0"]
        assert session.state is State.AWAY
        for _ in range(4):
            clock.go.release()
        await state(session, State.READY)
    assert clock.waits == [0.2, 0.4, 0.8, 1.6]


async def test_a_server_that_stays_away_costs_a_call_no_time(pins):
    shop, clock = FakeServer(listed("look")), SlowClock()
    shop.refusals.extend([GONE] * 2)
    async with servers(pins, shop, clock=clock) as running:
        clock.go.release()
        await until(lambda: _ready(len(clock.waits)), lambda waits: waits == 2)
        with pytest.raises(TransientError, match="the wire is cut"):
            await running.sessions["s0"].call("look", {})
        with pytest.raises(LostError):
            running.sessions["s0"].offers()


async def _ready(value):
    return value


async def test_a_call_that_is_not_answered_ends_and_is_cancelled_at_the_server(pins):
    shop = FakeServer(listed("look"))
    async with servers(pins, shop, timeout=0.05) as running:
        shop.awake.clear()
        with pytest.raises(SilentError, match=r"'s0' did not answer 'look' within 0\.05 s"):
            await running.sessions["s0"].call("look", {})
        assert shop.cancelled == 1
        shop.awake.set()
        assert (await running.sessions["s0"].call("look", {})).text == "look done"


async def test_a_server_that_answers_nothing_any_more_is_connected_anew(pins):
    shop = FakeServer(listed("look"))
    async with servers(pins, shop, timeout=0.05) as running:
        shop.awake.clear()
        with pytest.raises(SilentError):
            await running.sessions["s0"].call("look", {})
        await until(lambda: _ready(shop.connects), lambda connects: connects > 1)
        shop.awake.set()
        await state(running.sessions["s0"], State.READY)


async def test_one_that_hangs_slows_no_other(pins):
    good, bad = FakeServer(listed("look")), FakeServer(listed("look"))
    async with servers(pins, good, bad, timeout=0.3) as running:
        bad.awake.clear()
        stuck = asyncio.create_task(running.sessions["s1"].call("look", {}))
        for _ in range(20):
            await running.sessions["s0"].call("look", {})
        assert not stuck.done()
        bad.awake.set()
        await stuck


async def test_a_server_with_long_schemas_slows_no_other(pins):
    props = {f"p{n}": {"type": "string"} for n in range(100)}
    long = [
        listed(f"t{n}", parameters={"type": "object", "title": str(n), "properties": props})
        for n in range(200)
    ]
    good, bad = FakeServer(listed("look")), FakeServer(*long)
    async with asyncio.timeout(30), servers(pins, good, bad, timeout=0.3) as running:
        assert (await running.sessions["s0"].call("look", {})).text == "look done"
        assert "no connection within 0.3 s" in running.away["s1"]


async def test_only_so_many_calls_are_made_at_a_time(pins):
    shop = FakeServer(listed("look"))
    async with servers(pins, shop, concurrency=3) as running:
        await asyncio.gather(*(running.sessions["s0"].call("look", {}) for _ in range(10)))
    assert shop.busiest == 3


async def test_a_tool_that_changed_at_a_reconnect_is_refused(pins):
    shop = FakeServer(listed("look"))
    async with servers(pins, shop) as running:
        await running.sessions["s0"].call("look", {})
        shop.listed = (listed("look", digest="other"),)
        shop.faults.append(GONE)
        with pytest.raises(NotOfferedError, match="not what was accepted"):
            await running.sessions["s0"].call("look", {})
    assert len(shop.calls) == 2


async def test_pins_that_cannot_be_written_leave_new_tools_out(tmp_path):
    (tmp_path / ".pins.json.lock").mkdir()
    pins = Pins(tmp_path / "pins.json", trust_first=True)
    async with servers(pins, FakeServer(listed("look"))) as running:
        with pytest.raises(NotOfferedError):
            await running.sessions["s0"].call("look", {})


async def test_a_disabled_server_is_not_connected(pins):
    shop = FakeServer(listed("look"))
    async with servers(pins, shop, disabled=True) as running:
        assert running.sessions == {}
    assert shop.connects == 0


async def test_a_server_that_does_not_answer_ends_with_the_rest(pins):
    shop = FakeServer(listed("look"))
    shop.awake.clear()
    running = Servers([server()], pins, connect=shop.connect, preload=0.02)
    async with running:
        assert running.sessions["shop"].state is State.CONNECTING
    assert running.sessions["shop"].state is State.CLOSED
    assert shop.open == 0


async def test_servers_that_are_not_ready_say_why(pins):
    lost = FakeServer()
    lost.refusals.append(GONE)
    async with servers(pins, FakeServer(listed("look")), lost, clock=SlowClock()) as both:
        assert both.away == {"s1": "the wire is cut"}


async def test_servers_are_left_when_the_wait_for_them_is_cancelled(pins):
    deaf = FakeServer(listed("look"))
    deaf.awake.clear()
    both = servers(pins, deaf)
    entering = asyncio.create_task(both.__aenter__())

    async def connected():
        return deaf.open

    await until(connected, bool)
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    assert deaf.open == 0
    assert both.sessions["s0"].state is State.CLOSED


async def test_who_waits_for_a_server_is_told_at_once_that_it_stays_away(pins):
    clock, lost = SlowClock(), FakeServer()
    lost.refusals.extend([GONE, GONE])
    async with servers(pins, lost, clock=clock) as running:
        call = asyncio.create_task(running.sessions["s0"].call("look", {}))
        await asyncio.sleep(0)
        clock.go.release()
        with pytest.raises(LostError, match="'s0' is away: the wire is cut"):
            await call
