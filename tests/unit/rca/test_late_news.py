"""What is told while an investigation goes on reaches it, once."""

import asyncio
import json
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Alert, EvidenceKind, HypothesisFormed, Novelty
from tocsin_kit.errors import TransientError
from tocsin_kit.graphs import Subgraph
from tocsin_rca import analyzers, graph
from tocsin_rca.handlers import Handlers, Listeners
from tocsin_rca.nodes import Nodes
from tocsin_rca.ports import World
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.gated import GatedCluster

SAMPLE = Path(__file__).parent / "samples" / "oom_limit"
LATE = build.alert(fingerprint="late", title="HighLatency", labels={"alertname": "HighLatency"})


class Desk:
    """One investigation of a sample, whose cluster answers when the test says so."""

    def __init__(self, history, clock):
        self.alert = Alert.model_validate_json((SAMPLE / "alert.json").read_bytes())
        changes = json.loads((SAMPLE / "history.json").read_bytes())
        self.cluster = GatedCluster(SnapshotCluster(SAMPLE / "snapshot"))
        self.world = World(OneCluster(self.cluster), history(changes), clock)
        self.news, self.saver = FakeLateNews(), InMemorySaver()
        self.listeners = Listeners(self.news)

    def nodes(self):
        return Nodes(self.world, analyzers.load(), lambda: Budget(200, 30, lambda: 0.0), self.news)

    async def open(self):
        handlers = Handlers(Subgraph("rca", graph.build(self.nodes()), self.saver), 3)
        return await handlers.on_incident_opened(build.incident_opened(alert=self.alert))

    async def repeat(self, alert=LATE, novelty=Novelty.ALERT):
        await self.listeners.on_alert_repeated(build.alert_repeated(alert=alert, novelty=novelty))

    async def supersede(self):
        merged = build.run_superseded(run_id="r2", into=RUN, alert=LATE, why="both on node n1")
        await self.listeners.on_run_superseded(merged)


def alerts(answer):
    return [one for one in answer.hypothesis.evidence if one.kind is EvidenceKind.ALERT]


@pytest.fixture
def desk(history, clock):
    return Desk(history, clock)


@pytest.mark.parametrize("told", [Desk.repeat, Desk.supersede])
async def test_an_alert_that_joins_while_evidence_is_collected_is_evidence_once(desk, told):
    investigating = asyncio.create_task(desk.open())
    await desk.cluster.asked.wait()
    await told(desk)
    await told(desk)
    desk.cluster.gate.set()
    answer = await investigating
    first, *_, late = alerts(answer)
    assert len(alerts(answer)) == 2
    assert first.query == f"alert {desk.alert.fingerprint}"
    assert (late.query, late.source) == ("alert late", LATE.source)
    assert late.excerpt.startswith("HighLatency")


async def test_what_joined_before_the_investigation_began_is_evidence_too(desk):
    desk.cluster.gate.set()
    await desk.supersede()
    answer = await desk.open()
    assert "joined the run: both on node n1" in alerts(answer)[-1].excerpt


async def test_evidence_keeps_its_ids_and_the_finding_when_news_comes(desk):
    desk.cluster.gate.set()
    plain = await desk.open()
    desk.saver = InMemorySaver()
    await desk.repeat()
    answer = await desk.open()
    assert isinstance(answer, HypothesisFormed)
    assert answer.hypothesis.finding == plain.hypothesis.finding
    assert answer.hypothesis.evidence[:-1] == plain.hypothesis.evidence
    assert len({one.id for one in answer.hypothesis.evidence}) == len(answer.hypothesis.evidence)


async def test_the_alert_that_opened_the_run_is_no_news(desk):
    desk.cluster.gate.set()
    await desk.repeat(desk.alert)
    assert len(alerts(await desk.open())) == 1


@pytest.mark.parametrize("novelty", [kind for kind in Novelty if kind is not Novelty.ALERT])
async def test_a_repeat_that_brings_no_new_alert_is_no_news(desk, novelty):
    await desk.repeat(novelty=novelty)
    assert await desk.news.of(RUN) == ()


async def test_after_the_hypothesis_news_is_only_kept_on_the_run(desk):
    desk.cluster.gate.set()
    first = await desk.open()
    await desk.repeat()
    assert await desk.open() == first
    assert [one.alert for one in await desk.news.of(RUN)] == [LATE]


async def test_p8_news_that_cannot_be_read_makes_the_investigation_wait(desk):
    desk.cluster.gate.set()
    desk.news.down = TransientError("the run store did not answer")
    with pytest.raises(TransientError):
        await desk.open()
    desk.news.down = None
    assert isinstance(await desk.open(), HypothesisFormed)
