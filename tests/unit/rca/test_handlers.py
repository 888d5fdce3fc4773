import json
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import (
    Alert,
    CauseClass,
    EvidenceKind,
    Finding,
    HypothesisFormed,
    InvestigationInconclusive,
    Verdict,
)
from tocsin_kit.errors import TransientError
from tocsin_kit.graphs import Subgraph
from tocsin_rca import analyzers, graph
from tocsin_rca.handlers import Handlers
from tocsin_rca.nodes import Nodes
from tocsin_rca.ports import World
from tocsin_testing import build
from tocsin_testing.crowd import FakeLateNews

SAMPLES = Path(__file__).parent / "samples"
OOM = CauseClass.OOM_KILLED_LIMIT_TOO_LOW


class Watched:
    """A cluster or a history that counts what it is asked, and can stop to answer."""

    def __init__(self, inner):
        self._inner, self.source = inner, inner.source
        self.recorded_at = getattr(inner, "recorded_at", None)
        self.asked = 0
        self.down: Exception | None = None

    def __getattr__(self, name):
        async def ask(*args, **options):
            self.asked += 1
            if self.down:
                raise self.down
            return await getattr(self._inner, name)(*args, **options)

        return ask


class Desk:
    """Investigations of one sample, and the checkpoints that outlive a worker."""

    def __init__(self, sample, history, clock):
        folder = SAMPLES / sample
        self.alert = Alert.model_validate_json((folder / "alert.json").read_bytes())
        recorded = folder / "history.json"
        changes = json.loads(recorded.read_bytes()) if recorded.exists() else []
        self.cluster = Watched(SnapshotCluster(folder / "snapshot"))
        self.history = Watched(history(changes))
        self.saver, self.calls, self.news = InMemorySaver(), 200, FakeLateNews()
        self._clock = clock

    def nodes(self):
        world = World(OneCluster(self.cluster), self.history, self._clock)
        return Nodes(
            world, analyzers.load(), lambda: Budget(self.calls, 30, lambda: 0.0), self.news
        )

    def handlers(self, nodes=None):
        """Return the handlers of a worker that knows only what is stored."""
        asking = Subgraph("rca", graph.build(nodes or self.nodes()), self.saver)
        return Handlers(asking, max_attempts=3)

    async def open(self, handlers=None):
        event = build.incident_opened(alert=self.alert)
        return await (handlers or self.handlers()).on_incident_opened(event)

    async def reject(self, attempt, *rejected):
        event = build.hypothesis_rejected(alert=self.alert, attempt=attempt, rejected=rejected)
        return await self.handlers().on_hypothesis_rejected(event)


@pytest.fixture
def desk(history, clock):
    return lambda sample="oom_limit": Desk(sample, history, clock)


async def test_p10_a_sample_leads_to_a_hypothesis_that_points_at_its_evidence(desk):
    here = desk()
    formed = await here.open()
    assert isinstance(formed, HypothesisFormed)
    assert formed.alert == here.alert
    hypothesis = formed.hypothesis
    expected = json.loads((SAMPLES / "oom_limit" / "expected.json").read_bytes())
    found = hypothesis.finding.model_copy(update={"considered": ()})
    assert [found] == [Finding.model_validate(one) for one in expected]
    assert hypothesis.finding.considered
    assert (hypothesis.verdict, hypothesis.attempt) == (Verdict.CONFIRMED, 1)
    assert hypothesis.rejected == ()
    assert {item.id for item in hypothesis.evidence}.issuperset(hypothesis.finding.evidence)


async def test_p10_a_healthy_cluster_is_inconclusive_with_all_that_was_seen(desk):
    answer = await desk("healthy").open()
    assert isinstance(answer, InvestigationInconclusive)
    assert "No cause that the analyzers know" in answer.why
    assert answer.candidates == ()
    assert answer.evidence


async def test_a_rejected_cause_is_not_proposed_again(desk):
    answer = await desk().reject(1, OOM)
    assert isinstance(answer, InvestigationInconclusive)
    assert f"already rejected {OOM.value}" in answer.why


async def test_what_was_ruled_out_is_remembered_in_the_next_hypothesis(desk):
    before = CauseClass.IMAGE_TAG_NOT_FOUND
    formed = await desk().reject(1, before)
    assert isinstance(formed, HypothesisFormed)
    assert (formed.hypothesis.attempt, formed.hypothesis.rejected) == (2, (before,))
    assert formed.hypothesis.finding.cause is OOM


async def test_after_the_last_attempt_it_gives_up_with_the_reasons_and_asks_nothing(desk):
    here = desk()
    answer = await here.reject(3, OOM)
    assert isinstance(answer, InvestigationInconclusive)
    assert answer.why.startswith("3 hypotheses were rejected")
    assert "The container still restarts." in answer.why
    assert here.cluster.asked == here.history.asked == 0


@pytest.mark.parametrize("error", [ClusterError("forbidden"), TransientError("no route")])
async def test_a_cluster_that_does_not_answer_is_missing_evidence_and_never_healthy(desk, error):
    here = desk()
    here.cluster.down = error
    answer = await here.open()
    assert isinstance(answer, InvestigationInconclusive)
    missing = [item for item in answer.evidence if item.kind is EvidenceKind.MISSING]
    assert any(str(error) in item.excerpt for item in missing)
    assert f"The cluster was not seen, so nobody knows how it is: {error}" in answer.why


async def test_a_history_that_does_not_answer_is_said_and_nothing_points_at_it(desk):
    here = desk()
    here.history.down = TransientError("git is away")
    formed = await here.open()
    assert isinstance(formed, HypothesisFormed)
    kinds = {item.id: item.kind for item in formed.hypothesis.evidence}
    assert EvidenceKind.MISSING in kinds.values()
    assert EvidenceKind.MISSING not in {kinds[one] for one in formed.hypothesis.finding.evidence}


async def test_an_investigation_ends_when_its_calls_are_spent(desk):
    here = desk()
    here.calls = 3
    answer = await here.open()
    assert here.cluster.asked + here.history.asked <= 3
    assert isinstance(answer, InvestigationInconclusive)
    assert any(item.kind is EvidenceKind.MISSING for item in answer.evidence)


async def test_p5_an_investigation_that_is_finished_is_not_repeated(desk):
    here = desk()
    first = await here.open()
    asked = here.cluster.asked
    assert await here.open() == first
    assert here.cluster.asked == asked


async def test_every_attempt_looks_anew(desk):
    here = desk()
    await here.open()
    asked = here.cluster.asked
    await here.reject(1, CauseClass.IMAGE_TAG_NOT_FOUND)
    assert here.cluster.asked == 2 * asked


class Died(BaseException):
    """The worker is gone."""


async def die_before_the_conclusion(desk):
    nodes = desk.nodes()

    async def conclude(state):
        raise Died

    nodes.conclude = conclude
    with pytest.raises(Died):
        await desk.open(desk.handlers(nodes))


async def test_p5_a_worker_that_takes_over_looks_again(desk):
    here = desk()
    await die_before_the_conclusion(here)
    asked = here.cluster.asked
    assert isinstance(await here.open(), HypothesisFormed)
    assert here.cluster.asked == 2 * asked


async def test_a_worker_that_takes_over_concludes_from_what_it_has_seen_itself(desk, history):
    here = desk()
    await die_before_the_conclusion(here)
    here.history = Watched(history([]))
    formed = await here.open()
    assert isinstance(formed, HypothesisFormed)
    fresh = desk()
    fresh.history = Watched(history([]))
    assert formed.hypothesis == (await fresh.open()).hypothesis
