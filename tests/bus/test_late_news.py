"""Late news on real servers: it reaches an investigation that goes on, whose lease is held."""

from pathlib import Path

import pytest

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import (
    Alert,
    AlertRepeated,
    EvidenceKind,
    HypothesisFormed,
    IncidentOpened,
    Novelty,
    RunState,
    RunSuperseded,
)
from tocsin_kit import store
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.late_news import LateNews
from tocsin_kit.moves import move
from tocsin_rca import analyzers, graph
from tocsin_rca.handlers import Handlers, Listeners
from tocsin_rca.nodes import Nodes
from tocsin_rca.ports import World
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeClock
from tocsin_testing.gated import GatedCluster
from tocsin_testing.harness import running, until

pytestmark = pytest.mark.servers

SAMPLE = Path(__file__).parents[1] / "unit" / "rca" / "samples" / "oom_limit"


class NoHistory:
    source = "git"

    async def recent_changes(self, target, *, cluster, limit):
        return ()

    async def declared(self, namespace, names, *, cluster, limit):
        return ()


async def test_an_alert_that_joins_while_a_worker_holds_the_run_is_evidence_exactly_once(
    nats_url, redis_url
):
    cluster = GatedCluster(SnapshotCluster(SAMPLE / "snapshot"))
    texts, raw = (store.connect(redis_url, text=text) for text in (True, False))
    news = LateNews(texts)

    def subscribe(bus):
        world = World(OneCluster(cluster), NoHistory(), FakeClock())
        nodes = Nodes(world, analyzers.load(), lambda: Budget(200, 30, lambda: 0.0), news)
        handlers = Handlers(Subgraph("rca", graph.build(nodes), saver(raw)), 3)
        allowed = move(RunState.RECEIVED, during=RunState.INVESTIGATING)
        bus.on(IncidentOpened, handlers.on_incident_opened, allowed)
        listeners = Listeners(news)
        bus.watch(AlertRepeated, listeners.on_alert_repeated)
        bus.watch(RunSuperseded, listeners.on_run_superseded)

    async with running(nats_url, redis_url, subscribe) as rig:
        alert = Alert.model_validate_json((SAMPLE / "alert.json").read_bytes())
        await rig.runs.create(build.alert_accepted(alert=alert))
        await rig.bus.publish(build.incident_opened(alert=alert))
        await cluster.asked.wait()
        late = build.alert(fingerprint="late", title="HighLatency")
        for number in range(2):
            repeated = build.alert_repeated(alert=late, novelty=Novelty.ALERT, id=f"again-{number}")
            await rig.bus.publish(repeated)
        merged = build.run_superseded(run_id="r2", into=RUN, alert=late.model_copy(), id="merged")
        await rig.bus.publish(merged)
        for durable in ("rca-repeated", "rca-superseded"):
            await rig.settled(durable)
        assert [one.alert.fingerprint for one in await news.of(RUN)] == ["late"]
        cluster.gate.set()

        async def formed():
            return [fact for fact in await rig.facts() if isinstance(fact, HypothesisFormed)]

        (answer,) = await until(formed, lambda facts: len(facts) == 1)
        seen = [e.query for e in answer.hypothesis.evidence if e.kind is EvidenceKind.ALERT]
        assert seen == [f"alert {alert.fingerprint}", "alert late"]
    await texts.aclose()
    await raw.aclose()
