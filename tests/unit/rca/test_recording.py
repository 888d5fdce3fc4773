import json
from pathlib import Path

import pytest

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Alert, CauseClass, EvidenceKind
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_rca import analyzers, collectors
from tocsin_rca.collectors.target import cluster_of
from tocsin_rca.evidence.comparison import differences, summary
from tocsin_rca.nodes import Nodes, answer
from tocsin_rca.ports import Measured, Runbook, Sample, Series, World
from tocsin_rca.recording import Attempt, RecordedWorld, Recording, masking, played
from tocsin_rca.replay import again, plain
from tocsin_rca.settings import Settings
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN

SAMPLES = sorted(path for path in (Path(__file__).parent / "samples").iterdir() if path.is_dir())
OOM = next(path for path in SAMPLES if path.name == "oom_limit")


class FakeRecordings:
    def __init__(self, error=None):
        self.kept, self._error = {}, error

    async def keep(self, run_id, attempt, recording):
        if self._error:
            raise self._error
        self.kept[run_id, attempt] = recording


class NoNews:
    def __init__(self, *news):
        self._news = news

    async def of(self, run_id):
        return self._news


class Everything:
    """Metrics, runbooks and earlier runs in one, each with one answer."""

    source = "everything"

    async def over(self, query, window):
        names = {"__name__": "container_memory_working_set_bytes"}
        return Measured((Series(names, (Sample(NOW, 1.5),)),), ("in part",))

    def selects(self, cluster):
        return {"cluster": cluster}

    def link(self, query, window):
        return ""

    async def about(self, alert):
        return (Runbook("a.md", "Do it."),)

    async def before(self, run_id, alert):
        raise TransientError("the run store did not answer")


@pytest.fixture
def world(history, clock):
    def make(folder, **more):
        recorded = folder / "history.json"
        changes = json.loads(recorded.read_bytes()) if recorded.exists() else []
        cluster = OneCluster(SnapshotCluster(folder / "snapshot"))
        return World(cluster, history(changes), clock, **more)

    return make


def alert_of(folder):
    return Alert.model_validate_json((folder / "alert.json").read_bytes())


def full_budget():
    return Budget(500, 30, lambda: 0.0)


async def recorded(world, alert, recordings, news=()):
    """Let an attempt go through all of its steps; return what it came to."""
    nodes = Nodes(world, analyzers.load(), full_budget, NoNews(*news), recordings)
    state = {"run_id": RUN, "alert": alert, "attempt": 1, "rejected": []}
    for step in (nodes.collect, nodes.analyze, nodes.conclude):
        state |= await step(state)
    return state["answer"]


async def replayed(recordings):
    recording = Recording.model_validate_json(recordings.kept[RUN, 1])
    return recording, await again(recording, RUN, Settings())


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
async def test_a_recording_leads_to_the_same_conclusion_without_the_world(world, folder):
    recordings = FakeRecordings()
    told = await recorded(world(folder), alert_of(folder), recordings)
    _, found = await replayed(recordings)
    assert found.then == found.now == summary(told)
    assert found.differences == ()
    assert plain(found).endswith("no difference")


async def test_every_piece_of_evidence_is_seen_again(world):
    everything = Everything()
    alert = alert_of(OOM)
    inner = world(OOM, metrics=everything, runbooks=(everything,), past=everything)
    taped = RecordedWorld(inner, cluster_of(alert))
    case = await collectors.collect(alert, taped.world, full_budget(), RUN)
    told = summary(answer(RUN, case, (), 1, ()))
    attempt = Attempt(alert=alert, number=1, rejected=(), news=(), concluded=told)
    recording = Recording.model_validate_json(taped.packed(attempt))
    seen = await collectors.collect(alert, played(recording), full_budget(), RUN)
    assert [one.evidence for one in seen.observations] == [
        one.evidence for one in case.observations
    ]
    kinds = {one.evidence.kind for one in seen.observations}
    assert {EvidenceKind.METRIC, EvidenceKind.RUNBOOK, EvidenceKind.COMMIT} <= kinds
    assert "the run store did not answer" in {one.evidence.excerpt for one in seen.missing}


async def test_alerts_that_joined_the_run_are_seen_again(world):
    late = build.related_alert()
    recordings = FakeRecordings()
    await recorded(world(OOM), alert_of(OOM), recordings, [late])
    recording, found = await replayed(recordings)
    assert recording.attempt.news == (late,)
    assert found.differences == ()


async def test_what_is_concluded_differently_is_named(world):
    recordings = FakeRecordings()
    await recorded(world(OOM), alert_of(OOM), recordings)
    kept = json.loads(recordings.kept[RUN, 1])
    kept["attempt"]["concluded"] |= {"cause": "memory_leak", "confidence": 0.5, "change": None}
    recordings.kept[RUN, 1] = json.dumps(kept)
    _, found = await replayed(recordings)
    named = [line.partition(":")[0] for line in found.differences]
    assert named == ["cause", "confidence", "change"]
    assert "cause: memory_leak -> oom_killed_limit_too_low" in plain(found)


def test_two_conclusions_that_are_alike_have_no_difference():
    one = summary(build.hypothesis_formed())
    other = summary(build.investigation_inconclusive())
    assert list(differences(one, one)) == []
    assert next(differences(one, other)) == "verdict: confirmed -> inconclusive"


async def test_no_secret_is_recorded(scene, history, clock):
    scene.container |= {
        "env": [
            {"name": "DB_PASSWORD", "value": "correct horse battery"},
            {"name": "MODE", "value": "fast"},
        ]
    }
    scene.deployment()
    scene.pod(ready=False, restartCount=2, state={"running": {}})
    scene.log("connecting with password: hunter2secret\nmode fast")
    recordings = FakeRecordings()
    world = World(OneCluster(scene.cluster()), history([]), clock)
    await recorded(world, scene.alert(), recordings)
    kept = recordings.kept[RUN, 1].decode()
    assert "correct horse" not in kept
    assert "hunter2secret" not in kept
    assert '"MODE","value":"fast"' in kept


async def test_the_first_rejected_cause_is_rejected_again(world):
    recordings = FakeRecordings()
    nodes = Nodes(world(OOM), analyzers.load(), full_budget, NoNews(), recordings)
    rejected = [CauseClass.OOM_KILLED_LIMIT_TOO_LOW]
    state = {"run_id": RUN, "alert": alert_of(OOM), "attempt": 2, "rejected": rejected}
    for step in (nodes.collect, nodes.analyze, nodes.conclude):
        state |= await step(state)
    recording = Recording.model_validate_json(recordings.kept[RUN, 2])
    found = await again(recording, RUN, Settings())
    assert (found.attempt, found.differences) == (2, ())
    assert found.now.cause is not CauseClass.OOM_KILLED_LIMIT_TOO_LOW


async def test_a_run_does_not_fail_because_it_cannot_be_recorded(world, monkeypatch):
    told = await recorded(world(OOM), alert_of(OOM), FakeRecordings(TransientError("away")))
    assert summary(told).cause is CauseClass.OOM_KILLED_LIMIT_TOO_LOW
    monkeypatch.setattr(masking, "MOST_LETTERS", 100)
    recordings = FakeRecordings()
    told = await recorded(world(OOM), alert_of(OOM), recordings)
    assert summary(told).cause is CauseClass.OOM_KILLED_LIMIT_TOO_LOW
    assert recordings.kept == {}


async def test_what_was_not_asked_then_is_missing(world):
    recordings = FakeRecordings()
    await recorded(world(OOM), alert_of(OOM), recordings)
    recording = Recording.model_validate_json(recordings.kept[RUN, 1])
    there = played(recording).clusters.named("")
    with pytest.raises(PermanentError, match="was not asked when the run was recorded"):
        await there.list("Node", "elsewhere")
    damaged = recording.model_copy(
        update={"heard": {name: one.model_copy(update={"answer": 7, "error": ""})
                          for name, one in recording.heard.items()}}
    )  # fmt: skip
    with pytest.raises(PermanentError, match="of another version"):
        await played(damaged).clusters.named("").printed()
