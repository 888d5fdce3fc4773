"""What goes on is told to who listens, never stored, and holds nobody up when the bus is away."""

import nats
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from prometheus_client import REGISTRY

from tocsin_agents.loop.state import TYPES
from tocsin_contracts import (
    LIVE_EVENTS,
    PREFIX,
    HypothesisFormed,
    ModelCalled,
    RunState,
    TextWritten,
)
from tocsin_kit import store
from tocsin_kit.bus import Bus
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_kit.publishing import MOST_UNSENT, Publisher
from tocsin_kit.redaction import Redactor
from tocsin_kit.runs import RunStore
from tocsin_rca.investigation.broadcasting import Broadcasting
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeRuns
from tocsin_testing.harness import BOUND, running, settings, until
from tocsin_testing.investigating import Workplace, looks, submits, world
from tocsin_testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.servers

TEXT = TextWritten(run_id=RUN, agent="investigator", text="It is memory.")


def lost(event):
    return REGISTRY.get_sample_value("tocsin_live_lost_total", {"kind": event.kind}) or 0


async def test_who_listens_to_a_run_is_told_and_no_stream_keeps_it(nats_url, redis_url):
    client = await nats.connect(nats_url)
    try:
        heard = await client.subscribe(f"tocsin-live.{RUN}.*")
        async with running(nats_url, redis_url) as rig:
            await client.flush()
            await rig.bus.tell(TEXT)
            await rig.bus.tell(ModelCalled(run_id=RUN, agent="investigator", model="m"))
            await rig.bus.tell(TextWritten(run_id="other", agent="investigator", text="Nothing."))
            first, second = [await heard.next_msg(BOUND) for _ in range(2)]
            assert first.subject == f"tocsin-live.{RUN}.text"
            assert TextWritten.model_validate_json(first.data) == TEXT
            assert ModelCalled.model_validate_json(second.data).cost is None
            assert await rig.facts() == []
            await rig.bus.publish(build.incident_opened())
            assert len(await rig.facts()) == 1
    finally:
        await client.close()


async def test_while_the_bus_is_away_it_is_lost_at_once_and_facts_still_come(
    own_nats_server, redis_url
):
    async with running(own_nats_server.url, redis_url) as rig:
        before = lost(TEXT)
        own_nats_server.kill()

        async def told():
            await rig.bus.tell(TEXT)
            return lost(TEXT) - before

        await until(told, lambda count: count > 0)
        own_nats_server.start()
        event = build.incident_opened()

        async def published():
            await rig.bus.publish(event)
            return True

        await until(published, bool, 3 * BOUND)
        assert await rig.facts() == [event]


def investigating(folder, bus):
    """Return a worker whose work is told over a bus."""
    alert = build.alert(workload=build.workload(namespace="shop", name="web", kind="Deployment"))
    opened = build.incident_opened(id="opened", alert=alert)
    seen = world(folder)
    place = Workplace(
        world=seen,
        runs=FakeRuns(build.run(opened, state=RunState.INVESTIGATING)),
        saver=InMemorySaver(serde=strict_serializer(*TYPES)),
        listening=Broadcasting(bus, Redactor(), seen.clock).of,
    )
    handlers, _ = place.worker(ScriptedModel(looks(), submits()))
    return handlers.on_incident_opened(opened)


async def test_an_investigation_is_heard_while_it_goes_on(nats_url, redis_url, tmp_path):
    client = await nats.connect(nats_url)
    try:
        heard = await client.subscribe(f"tocsin-live.{RUN}.>")
        async with running(nats_url, redis_url) as rig:
            await client.flush()
            assert isinstance(await investigating(tmp_path, rig.bus), HypothesisFormed)
            kinds = [(await heard.next_msg(BOUND)).subject.rpartition(".")[2] for _ in range(4)]
    finally:
        await client.close()
    assert kinds == ["model-called", "tool-called", "tool-answered", "model-called"]


async def test_an_investigation_comes_to_its_end_without_a_bus(redis_url, tmp_path):
    away = settings("rca", nats_url="nats://127.0.0.1:1", redis_url=redis_url)
    redis = store.connect(redis_url)
    bus = Bus(away, RunStore(redis, lease_seconds=1, max_attempts=1))
    assert isinstance(await investigating(tmp_path, bus), HypothesisFormed)
    await redis.aclose()


async def test_before_there_is_a_bus_it_is_lost():
    assert not await Publisher().tell(b"", TEXT.subject)


class Slow:
    """A connection over which nothing gets away."""

    is_connected = True

    def __init__(self, unsent):
        self.pending_data_size = unsent
        self.sent = []

    async def publish(self, subject, body):
        self.sent.append(subject)


@pytest.mark.parametrize(("unsent", "goes"), [(0, True), (MOST_UNSENT + 1, False)])
async def test_a_bus_that_is_slow_is_left_to_the_facts(unsent, goes):
    publisher, client = Publisher(), Slow(unsent)
    publisher.use(client)
    assert await publisher.tell(b"", TEXT.subject) is goes
    assert client.sent == ([TEXT.subject] if goes else [])


def test_no_live_event_is_taken_for_a_fact():
    subjects = [kind.model_construct(run_id=RUN).subject for kind in LIVE_EVENTS]
    assert len(set(subjects)) == len(subjects)
    assert not [subject for subject in subjects if subject.startswith(f"{PREFIX}.")]
