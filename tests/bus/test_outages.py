"""A server that dies and comes back: nothing is lost, and everything goes on by itself."""

import asyncio
from collections import Counter

import pytest

from tocsin_contracts import HypothesisFormed, IncidentOpened, RunState
from tocsin_kit.errors import TransientError
from tocsin_kit.moves import move
from tocsin_testing import build
from tocsin_testing.harness import BOUND, running, until

pytestmark = pytest.mark.servers

RUNS = [f"r{number}" for number in range(12)]
READER = "rca-opened"


class Investigation:
    """Stops at the third event until the test lets it go on; counts what it concluded."""

    def __init__(self):
        self.calls = Counter()
        self.half_way = asyncio.Event()
        self.go_on = asyncio.Event()

    async def __call__(self, event):
        """Form a hypothesis."""
        self.calls[event.run_id] += 1
        if len(self.calls) >= 3:
            self.half_way.set()
            await asyncio.wait_for(self.go_on.wait(), 2 * BOUND)
        return build.hypothesis_formed(run_id=event.run_id)

    def listen(self, bus):
        bus.on(IncidentOpened, self, move(RunState.RECEIVED, during=RunState.INVESTIGATING))


def concluded(facts):
    return sorted(fact.run_id for fact in facts if isinstance(fact, HypothesisFormed))


def was_given(info):
    return info.delivered.consumer_seq > 0


@pytest.mark.parametrize("victim", ["own_nats_server", "own_valkey_server"])
async def test_p1_p8_a_server_killed_in_the_middle_loses_nothing_and_all_goes_on(
    own_nats_server, own_valkey_server, victim, request
):
    server, handler = request.getfixturevalue(victim), Investigation()
    async with running(own_nats_server.url, own_valkey_server.url, handler.listen) as rig:
        for run_id in RUNS:
            await rig.bus.publish(build.incident_opened(run_id=run_id))
        await asyncio.wait_for(handler.half_way.wait(), BOUND)
        server.kill()
        handler.go_on.set()
        server.start()
        facts = await until(rig.facts, lambda f: len(concluded(f)) >= len(RUNS), 3 * BOUND)
        await rig.settled(READER)
        assert concluded(facts) == sorted(RUNS)
        assert await rig.letters() == []
        states = [(await rig.reader.get(run_id)).state for run_id in RUNS]
        assert set(states) == {RunState.VALIDATING}


async def test_p1_what_could_not_be_published_is_stored_once_when_it_is_sent_again(
    own_nats_server, redis_url
):
    event = build.incident_opened()
    async with running(own_nats_server.url, redis_url) as rig:
        own_nats_server.kill()
        with pytest.raises(TransientError, match="the bus did not store it"):
            await rig.bus.publish(event)
        own_nats_server.start()
        await rig.bus.publish(event)
        await rig.bus.publish(event)
        assert await rig.facts() == [event]


async def test_p8_an_event_waits_for_a_store_that_is_away(nats_url, own_valkey_server):
    handler = Investigation()
    async with running(nats_url, own_valkey_server.url, handler.listen, max_attempts=1) as rig:
        own_valkey_server.kill()
        await rig.bus.publish(build.incident_opened())
        await until(lambda: rig.js.consumer_info("TOCSIN", READER), was_given)
        own_valkey_server.start()
        await until(rig.facts, lambda facts: concluded(facts) == ["r1"], 3 * BOUND)
        assert await rig.letters() == []
