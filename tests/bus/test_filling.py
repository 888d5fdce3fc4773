"""A stream of facts that is nearly full, on real servers: open runs finish, no new one begins."""

import json

import httpx
import nats
import pytest

from tocsin_ingest import receiver as receiver_of_alerts
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.gate import Gate
from tocsin_kit import ensure, intake, keys
from tocsin_kit.errors import TransientError
from tocsin_kit.filling import Filling
from tocsin_kit.intake import Intake
from tocsin_kit.outbox import Outbox
from tocsin_kit.publishing import Publisher
from tocsin_kit.topology import FACTS, GIB
from tocsin_testing import build
from tocsin_testing.harness import running

pytestmark = pytest.mark.servers

KIB = 1024


class World:
    """The webhook of a receiver whose stream of facts is small."""

    def __init__(self, rig):
        self._rig = rig
        self.filling = Filling(rig.bus.fill)
        outbox = Outbox(rig.redis, "ingest", intake.read, rig.bus.publish)
        records = Intake(rig.redis, outbox, may_open=self.filling.has_room)
        receiver = receiver_of_alerts.Receiver(records, rig.runs)
        app = Api(sources.load(), receiver, gate=Gate({}, (), dev=True)).app()
        self._transport = httpx.ASGITransport(app)

    async def limit(self, **limits):
        config = (await self._rig.js.stream_info(FACTS)).config
        await self._rig.js.update_stream(config.evolve(**limits))

    async def fill(self, ratio):
        number = 0
        while await self._rig.bus.fill() < ratio:
            number += 1
            await self._rig.bus.publish(build.incident_opened(run_id=f"rfill{number:010}"))
        await self.filling.look()

    async def post(self, name, status="firing"):
        labels = {"alertname": "A", "namespace": "shop", "deployment": name}
        body = json.dumps({"alerts": [{"status": status, "labels": labels}]})
        async with httpx.AsyncClient(transport=self._transport, base_url="http://test") as client:
            answer = await client.post("/webhook/alertmanager", content=body)
        statuses = [one["status"] for one in answer.json().get("alerts", ())]
        return answer.status_code, statuses


@pytest.mark.parametrize("limits", [{"max_bytes": 64 * KIB}, {"max_msgs": 40}], ids=str)
async def test_p1_at_80_percent_open_runs_go_on_and_no_new_one_begins(nats_url, redis_url, limits):
    async with running(nats_url, redis_url) as rig:
        world = World(rig)
        await world.limit(**limits)
        assert await world.post("cart") == (202, ["opened"])
        await world.fill(0.8)
        assert not world.filling.has_room()
        stored = await rig.facts()
        assert (await world.post("web"))[0] == 503
        assert await rig.facts() == stored
        assert await world.post("cart") == (202, ["attached"])
        assert await world.post("cart", "resolved") == (202, ["resolved"])
        await world.limit(max_bytes=GIB, max_msgs=-1)
        await world.filling.look()
        assert await world.post("web") == (202, ["opened"])


async def test_nothing_is_left_of_a_run_that_was_refused(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        world = World(rig)
        await world.limit(max_msgs=10)
        await world.fill(0.8)
        for _ in range(2):
            assert (await world.post("web"))[0] == 503
        record = keys.incident("workload||shop|web")
        assert await rig.redis.exists(record) == 0
        await world.limit(max_bytes=GIB, max_msgs=-1)
        await world.filling.look()
        assert await world.post("web") == (202, ["opened"])
        assert await rig.redis.exists(record) == 1


async def test_a_stream_without_limits_is_never_full(nats_url):
    await ensure.ensure(nats_url, ack_wait=1)
    client = await nats.connect(nats_url)
    publisher = Publisher()
    with pytest.raises(TransientError, match="not connected"):
        await publisher.fill(FACTS)
    publisher.use(client)
    config = (await client.jetstream().stream_info(FACTS)).config
    await client.jetstream().update_stream(config.evolve(max_bytes=-1))
    assert await publisher.fill(FACTS) == 0
    with pytest.raises(TransientError, match="'NONE'"):
        await publisher.fill("NONE")
    await client.close()
    with pytest.raises(TransientError, match="no answer"):
        await publisher.fill(FACTS)
