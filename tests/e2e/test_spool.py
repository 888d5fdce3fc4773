"""Servers and ingest killed under load: whatever got a 202 ends in the run store."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from tocsin_kit import ensure, keys, store
from tocsin_kit.processes import LOOPBACK, free_ports
from tocsin_testing.harness import until

pytestmark = pytest.mark.e2e

BURST = 8
START = 60


def body(name):
    labels = {"alertname": "A", "namespace": "shop", "deployment": name}
    return json.dumps({"alerts": [{"status": "firing", "labels": labels}]}).encode()


class Ingest:
    """A receiver as a process, and what it acknowledged."""

    def __init__(self, nats_url, redis_url, folder):
        (self.port,) = free_ports(1)
        self.acknowledged = []
        self._environment = os.environ | {
            "TOCSIN_NATS_URL": nats_url,
            "TOCSIN_REDIS_URL": redis_url,
            "TOCSIN_DEV": "true",
            "TOCSIN_INGEST_PORT": str(self.port),
            "TOCSIN_SPOOL_DIR": str(folder),
        }
        self._process = None
        self._client = httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{self.port}", timeout=20)

    async def start(self):
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tocsin_ingest", "--role", "receiver"),
            env=self._environment,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await until(self.live, bool, START)

    async def kill(self):
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()

    async def close(self):
        await self.kill()
        await self._client.aclose()

    async def live(self):
        return (await self.get("/live")).get("status") == "live"

    async def get(self, path):
        with suppress(httpx.TransportError):
            return (await self._client.get(path)).json()
        return {}

    async def send(self, name):
        with suppress(httpx.TransportError):
            answer = await self._client.post("/webhook/alertmanager", content=body(name))
            if answer.status_code == httpx.codes.ACCEPTED:
                self.acknowledged.append(name)

    async def burst(self, stage):
        await asyncio.gather(*(self.send(f"{stage}-{number}") for number in range(BURST)))


@asynccontextmanager
async def receiving(nats, valkey, folder):
    await ensure.ensure(nats.url, ack_wait=5)
    ingest = Ingest(nats.url, valkey.url, folder)
    try:
        await ingest.start()
        yield ingest
    finally:
        await ingest.close()


async def stored(redis_url):
    """Count the runs by what their alerts are about."""
    async with store.connect(redis_url) as redis:
        runs = await redis.zrange(keys.runs(), 0, -1)
        facts = [await redis.hget(keys.run(run), "fact:alert.accepted.v1") for run in runs]
    events = [json.loads(fact.split("\n", 1)[1]) for fact in facts if fact]
    return Counter(event["alert"]["workload"]["name"] for event in events)


@pytest.mark.parametrize("victim", ["own_nats_server", "own_valkey_server"])
async def test_p1_every_202_ends_in_the_run_store_whatever_is_killed(
    own_nats_server, own_valkey_server, victim, tmp_path, request
):
    server, folder = request.getfixturevalue(victim), tmp_path / "spool"
    async with receiving(own_nats_server, own_valkey_server, folder) as ingest:
        await ingest.burst("before")
        server.kill()
        await ingest.burst("away")
        ready = await ingest.get("/ready")
        assert ready["status"] == "ready"
        assert ready["spooling"] >= BURST
        sending = asyncio.create_task(ingest.burst("killed"))
        await until(lambda: _some(ingest), lambda count: count > 2 * BURST)
        await ingest.kill()
        await sending
        await ingest.start()
        await ingest.burst("again")
        server.start()
        wanted = set(ingest.acknowledged)
        runs = await until(lambda: stored(own_valkey_server.url), wanted.issubset, 30)
        assert {name.partition("-")[0] for name in wanted} == {"before", "away", "killed", "again"}
        assert set(runs.values()) == {1}
        await until(lambda: ingest.get("/ready"), lambda answer: answer == {"status": "ready"}, 20)


async def _some(ingest):
    return len(ingest.acknowledged)
