"""Two organisations on one bus and one store: nothing of one is known to the other."""

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import pytest
from websockets.asyncio.client import connect

from tocsin_contracts import AlertAccepted
from tocsin_kit import keys, store
from tocsin_kit.embedded import NatsServer
from tocsin_kit.outcomes import OutcomeRecords
from tocsin_kit.processes import free_ports
from tocsin_testing import build, chatting
from tocsin_testing.build import RUN
from tocsin_testing.harness import BOUND, running

pytestmark = pytest.mark.servers

CONF = Path(__file__).parents[2] / "deploy" / "nats" / "accounts.conf"
PASSWORD = "only-for-this-test"
NAMES = ("north", "south")


class SharedServer(NatsServer):
    """The server as the example configures it."""

    def __init__(self, data, websocket):
        super().__init__(
            data, max_file_store="8GB"
        )  # what the streams of each may fill is reserved
        self.websocket = websocket

    def command(self):
        line = super().command()
        config = Path(line[-1])
        config.write_text(f"{config.read_text()}\n{CONF.read_text()}")
        return line

    def url_of(self, user):
        return f"nats://{user}:{PASSWORD}@127.0.0.1:{self.ports[0]}"


@pytest.fixture
def server(tmp_path, monkeypatch):
    (tmp_path / "nats").mkdir()
    shared = SharedServer(tmp_path / "nats", *free_ports(1))
    for name in NAMES:
        monkeypatch.setenv(f"{name.upper()}_PASSWORD", PASSWORD)
        monkeypatch.setenv(f"{name.upper()}_DASHBOARD_PASSWORD", PASSWORD)
    monkeypatch.setenv("NATS_WEBSOCKET_PORT", str(shared.websocket))
    with shared:
        yield shared


async def lives(name, server, redis_url, both):
    """Run one organisation's services, and return what it knows once both have told theirs."""
    keys.use_prefix(name)  # of this task alone
    heard = []
    async with running(server.url_of(name), redis_url) as rig:
        client = await nats.connect(server.url_of(name))

        async def hear(msg):
            heard.append(json.loads(msg.data)["run_id"])

        await client.subscribe("tocsin.>", cb=hear)
        await client.flush()
        await both.wait()
        for run_id in (RUN, f"r{name}"):
            alert = build.alert(title=f"Of {name}")
            accepted = build.event(AlertAccepted, run_id=run_id, alert=alert)
            await rig.runs.create(accepted)
            await rig.bus.publish(accepted)
        await both.wait()
        other = NAMES[1 - NAMES.index(name)]
        ours, theirs = await rig.reader.get(RUN), await rig.reader.get(f"r{other}")
        facts = {(fact.run_id, fact.alert.title) for fact in await rig.facts()}
        runs = {run.id for run in await rig.reader.recent(10)}
        await OutcomeRecords(rig.redis).ratings(RUN)
        await client.flush()
        await both.wait()
        await client.close()
    return ours.fact(AlertAccepted).alert.title, theirs, facts, runs, set(heard)


async def test_the_same_ids_are_other_runs_and_ids_of_the_other_are_unknown(server, redis_url):
    both = asyncio.Barrier(2)
    known = await asyncio.gather(*(lives(name, server, redis_url, both) for name in NAMES))
    for name, (title, theirs, facts, runs, heard) in zip(NAMES, known, strict=True):
        assert title == f"Of {name}"
        assert theirs is None, "an id of the other organisation is no run here"
        assert facts == {(RUN, f"Of {name}"), (f"r{name}", f"Of {name}")}
        assert runs == heard == {RUN, f"r{name}"}
    redis = store.connect(redis_url)
    prefixes = {str(key).partition(":")[0] for key in await redis.keys("*")}
    await redis.aclose()
    assert prefixes == {*NAMES}


async def test_a_dashboard_reads_its_own_facts_over_websocket_and_publishes_nothing(server):
    async with running(server.url_of("north"), "redis://127.0.0.1:1/0") as rig:
        stored = len(await rig.facts())
        async with asyncio.timeout(BOUND), dashboard(server, "north") as ours:
            async with dashboard(server, "south") as theirs:
                for peer in (ours, theirs):
                    await says(peer, "SUB tocsin.> 1\r\nPING\r\n", "PONG")
                await rig.bus.publish(chatting.question())
                await rig.bus.publish(build.alert_accepted())
                heard = await until(ours, f"tocsin.{AlertAccepted.topic}.{RUN}")
                assert "tocsin.chat." not in heard
                assert "MSG" not in await says(theirs, "PING\r\n", "PONG")
            for subject in (f"tocsin.{AlertAccepted.topic}.r2", "$JS.API.STREAM.DELETE.TOCSIN"):
                wish = f"PUB {subject} 2\r\n{{}}\r\n"
                assert "Permissions Violation" in await says(ours, wish, "-ERR")
            assert "Permissions Violation" in await says(ours, "SUB tocsin-timer.> 2\r\n", "-ERR")
        assert len(await rig.facts()) == stored + 2


@asynccontextmanager
async def dashboard(server, name):
    """Yield a WebSocket that the read-only user of an organisation has signed in on."""
    who = {"user": f"{name}-dashboard", "pass": PASSWORD, "verbose": False, "pedantic": False}
    async with connect(f"ws://127.0.0.1:{server.websocket}") as peer:
        await says(peer, f"CONNECT {json.dumps(who)}\r\nPING\r\n", "PONG")
        yield peer


async def says(peer, words, wanted):
    """Say something, as the dashboard that has signed in, and return the answer that is wanted."""
    await peer.send(words.encode())
    return await until(peer, wanted)


async def until(peer, wanted):
    seen = ""
    while wanted not in seen:
        seen += (await peer.recv()).decode()
    return seen
