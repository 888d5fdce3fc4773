"""Timers on a real bus: they come due by the server's clock, whoever has died meanwhile."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tocsin_contracts import RunState
from tocsin_kit.moves import OPEN
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TIMERS, TimerKind
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.harness import BOUND, running

pytestmark = pytest.mark.servers

READER = "action-due-approval-expiry"


def due_in(seconds):
    """The server tells times to the second, so that a timer is due at the start of one."""
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return Timer(kind=TimerKind.APPROVAL_EXPIRY, run_id=RUN, due_at=at, about="r1.abc")


class Expiry:
    """Ends the run; keeps which timers it was called for, and when."""

    def __init__(self):
        self.timers = []
        self.at = []
        self.called = asyncio.Event()

    async def __call__(self, timer):
        """Nobody decided in time."""
        self.timers.append(timer)
        self.at.append(datetime.now(UTC))
        self.called.set()
        return build.run_finished(outcome=RunState.EXPIRED)

    def listen(self, bus):
        bus.on_timer(TimerKind.APPROVAL_EXPIRY, self, OPEN)


async def test_a_timer_comes_due_and_its_owner_moves_the_run(nats_url, redis_url):
    expiry, timer = Expiry(), due_in(1)
    async with running(nats_url, redis_url, expiry.listen, service="action") as rig:
        await rig.bus.set_timer(timer)
        await asyncio.wait_for(expiry.called.wait(), BOUND)
        await rig.settled(READER, TIMERS)
        assert expiry.timers == [timer]
        assert expiry.at[0] >= timer.due_at - timedelta(seconds=1)
        assert (await rig.reader.get(RUN)).state is RunState.EXPIRED


async def test_p5_a_timer_set_twice_comes_due_once(nats_url, redis_url):
    expiry, timer = Expiry(), due_in(1)
    async with running(nats_url, redis_url, expiry.listen, service="action") as rig:
        await rig.bus.set_timer(timer)
        await rig.bus.set_timer(timer)
        await asyncio.wait_for(expiry.called.wait(), BOUND)
        await rig.settled(READER, TIMERS)
        assert len(expiry.timers) == 1


async def test_p8_a_timer_that_fell_due_while_the_bus_was_dead_comes_due_after_it(
    own_nats_server, redis_url
):
    expiry, timer = Expiry(), due_in(0.5)
    async with running(own_nats_server.url, redis_url, expiry.listen, service="action") as rig:
        await rig.bus.set_timer(timer)
        own_nats_server.kill()
        own_nats_server.start()
        await asyncio.wait_for(expiry.called.wait(), 2 * BOUND)
        assert expiry.timers == [timer]


async def test_a_late_timer_finds_nothing_to_do(nats_url, redis_url):
    expiry = Expiry()
    async with running(nats_url, redis_url, expiry.listen, service="action") as rig:
        event = build.run_cancel_requested()
        begin = await rig.runs.begin(event, "action", OPEN)
        await rig.runs.commit(begin.lease, OPEN, event, [build.run_finished()])
        await rig.bus.set_timer(due_in(-1))
        await rig.settled(READER, TIMERS)
        assert expiry.timers == []


async def test_a_timer_whose_time_is_over_already_comes_due_at_once(nats_url, redis_url):
    expiry, timer = Expiry(), due_in(-3600)
    async with running(nats_url, redis_url, expiry.listen, service="action") as rig:
        await rig.bus.set_timer(timer)
        await asyncio.wait_for(expiry.called.wait(), BOUND)
        assert expiry.timers == [timer]


async def test_a_later_timer_of_the_same_kind_takes_the_place_of_one_that_waits(
    nats_url, redis_url
):
    expiry, first, second = Expiry(), due_in(2), due_in(1)
    later = due_in(4).model_copy(update={"run_id": "r2"})
    async with running(nats_url, redis_url, expiry.listen, service="action") as rig:
        for timer in (first, second, later):
            await rig.bus.set_timer(timer)
        async with asyncio.timeout(BOUND):
            while later not in expiry.timers:
                expiry.called.clear()
                await expiry.called.wait()
        assert expiry.timers == [second, later]
