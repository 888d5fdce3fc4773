"""Which clusters an investigation reads: the one that the alert names, or all that it may be."""

from dataclasses import replace

import pytest
import yaml
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_agents.loop.state import TYPES
from tocsin_cluster.clusters import NamedClusters
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import EvidenceKind, HypothesisFormed, InvestigationInconclusive, RunState
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_testing import build
from tocsin_testing.fakes import FakeRuns
from tocsin_testing.investigating import Workplace, looks, submits, world
from tocsin_testing.scripted_model import ScriptedModel, asks

TOLD = {"west": "Its batch jobs run at night.", "east": "Payments are here.", "mars": "Unused."}


def cluster(folder, mode):
    folder.mkdir()
    made = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"mode": mode}},
    }
    (folder / "all.yaml").write_text(yaml.safe_dump(made))
    return SnapshotCluster(folder)


@pytest.fixture
def investigate(tmp_path):
    """Investigate an alert with this label where there are two clusters."""
    west, east = (cluster(tmp_path / name, name) for name in ("west", "east"))
    base = tmp_path / "base"
    base.mkdir()
    two = NamedClusters({"west": west, "east": east})

    async def done(label, *script):
        about = build.workload(namespace="shop", name="web", kind="Deployment", cluster="")
        labels = {"cluster": label} if label else {}
        alert = build.alert(workload=about, labels=labels)
        event = build.incident_opened(id="opened", alert=alert)
        model = ScriptedModel(*script)
        place = Workplace(
            world=replace(world(base), clusters=two),
            runs=FakeRuns(build.run(event, state=RunState.INVESTIGATING)),
            saver=InMemorySaver(serde=strict_serializer(*TYPES)),
            instructions=TOLD,
        )
        handlers, _ = place.worker(model)
        return await handlers.on_incident_opened(event), model

    return done


def request(model):
    return next(m.text for m in model.questions[0].messages if m.role == "user")


CONFIG = {"kind": "ConfigMap", "namespace": "shop", "name": "web"}
NO_CHANGE = {"object": CONFIG, "change": None}


async def test_an_alert_that_names_no_cluster_is_looked_at_in_both(investigate):
    one = asks(("k8s.get", CONFIG | {"cluster": "east"}))
    claims = [{"text": "It is so in east.", "evidence": ["m1", "m2"]}]
    answer, model = await investigate("", looks(), one, submits(claims=claims, **NO_CHANGE))
    assert isinstance(answer, InvestigationInconclusive)
    gathered = {one.id: one.excerpt for one in answer.evidence}
    assert ("west" in gathered["m1"], "east" in gathered["m1"]) == (True, True)
    assert ("west" in gathered["m2"], "east" in gathered["m2"]) == (False, True)
    assert "2 clusters are connected" in request(model)


async def test_what_the_operator_says_about_clusters_is_told_once_and_not_as_data(investigate):
    _, model = await investigate("", submits(**NO_CHANGE), submits(**NO_CHANGE))
    text = request(model)
    said = "What the operator says about clusters:\n- west: Its batch jobs run at night.\n- east: "
    assert said in text
    assert text.count("Payments are here.") == 1
    assert "Unused" not in text
    before = text.partition(said)[0]
    assert before.count("<<<output") == before.count("<<<end")


async def test_an_alert_that_names_a_cluster_goes_there_and_nowhere_else(investigate):
    answer, model = await investigate("east", looks(), submits(**NO_CHANGE))
    gathered = {one.id: one.excerpt for one in answer.evidence}
    assert ("mode" in gathered["m1"], "west" in gathered["m1"]) == (True, False)
    assert "One cluster is connected: east" in request(model)


async def test_an_alert_that_lists_both_is_looked_at_in_both(investigate):
    _, model = await investigate("west,east", looks(), submits(**NO_CHANGE))
    assert "2 clusters are connected" in request(model)
    assert '"clusters": {"west"' in model.questions[1].messages[-1].text


async def test_a_cluster_that_is_not_there_is_missing_and_never_another_one(investigate):
    answer, model = await investigate("mars", looks(), submits(), submits())
    assert not isinstance(answer, HypothesisFormed)
    why = "the cluster 'mars' is not connected; there is west, east"
    missing = [one for one in answer.evidence if one.kind is EvidenceKind.MISSING]
    assert any(why in one.excerpt for one in missing)
    assert f"mars, not reachable: {why}" in request(model)
    assert why in model.questions[1].messages[-1].text
