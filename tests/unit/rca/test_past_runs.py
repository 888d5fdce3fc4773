from datetime import timedelta

import pytest

from tocsin_cluster.clusters import OneCluster
from tocsin_contracts import EvidenceKind, Incident, RunId, RunState
from tocsin_kit.errors import TransientError
from tocsin_rca import collectors
from tocsin_rca.ports import World
from tocsin_rca.sources.past_runs import MOST, PastRuns
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock

ALERT = build.alert(starts_at=NOW, incident=Incident(key="k"))
OPENED = build.incident_opened(run_id="old", alert=ALERT)


class FakeRuns:
    """The store as it would be, in memory."""

    def __init__(self, *runs, error=None):
        self._runs = {run.id: run for run in runs}
        self._error = error
        self.met = []

    async def meet(self, run_id, at, things):
        self.met.append((run_id, at, tuple(things)))
        if self._error:
            raise self._error
        return tuple(self._runs)

    async def get(self, run_id):
        run = self._runs[run_id]
        if run.state is RunState.FAILED:
            raise ValueError("damaged")
        return run


def run(*facts, days=2, **changes):
    at = NOW - timedelta(days=days)
    return build.run(*facts, created_at=at, **changes)


async def before(*runs):
    store = FakeRuns(*runs)
    return await PastRuns(store, store, FakeClock()).before(RunId("r1"), ALERT)


async def test_a_run_is_remembered_by_its_incident_and_its_workload():
    store = FakeRuns()
    await PastRuns(store, store, FakeClock()).before(RunId("r1"), ALERT)
    workload = "workload prod-eu-1/payments/payments-api"
    assert store.met == [("r1", NOW, ("incident k", workload))]


async def test_of_an_earlier_run_its_cause_its_pull_request_and_its_end_are_known():
    formed = build.hypothesis_formed(run_id="old", alert=ALERT)
    pull = build.pull_request_opened(run_id="old")
    ended = build.run_finished(
        run_id="old", outcome=RunState.RESOLVED, sentence="It was merged and the alert cleared."
    )
    (past,) = await before(run(OPENED, formed, pull, ended))
    assert (past.run_id, past.same_incident, past.state) == ("old", True, RunState.RESOLVED)
    assert (past.finding, past.pull_request) == (formed.hypothesis.finding, pull.url)
    assert past.ending == "It was merged and the alert cleared."


async def test_a_cause_that_was_taken_back_is_none():
    formed = build.hypothesis_formed(run_id="old")
    later = NOW + timedelta(minutes=1)
    (past,) = await before(
        run(OPENED, formed, build.investigation_inconclusive(run_id="old", at=later))
    )
    assert past.finding is None


@pytest.mark.parametrize("key", [None, Incident(key="other")])
async def test_a_run_about_the_same_workload_is_not_called_the_same_incident(key):
    opened = build.incident_opened(run_id="old", alert=build.alert(incident=key))
    (past,) = await before(run(opened))
    assert not past.same_incident


async def test_only_a_few_records_are_read_and_one_that_is_damaged_hides_no_other():
    many = [
        run(build.incident_opened(run_id=f"r{n}"), state=RunState.FAILED if n == 1 else "resolved")
        for n in range(MOST + 3)
    ]
    assert [past.run_id for past in await before(*many)] == ["r0", "r2", "r3", "r4"]


@pytest.fixture
def collected(scene, history, clock, budget):
    scene.deployment()

    async def collect(store, run_id="r1"):
        past = PastRuns(store, store, FakeClock())
        world = World(OneCluster(scene.cluster()), history([]), clock, past=past)
        return await collectors.collect(ALERT, world, budget, run_id)

    return collect


async def test_earlier_runs_are_evidence_in_words(collected):
    formed = build.hypothesis_formed(run_id="old", alert=ALERT)
    pull = build.pull_request_opened(run_id="old")
    case = await collected(FakeRuns(run(OPENED, formed, pull)))
    (seen,) = (o.evidence for o in case.observations if o.evidence.kind is EvidenceKind.PAST)
    finding = formed.hypothesis.finding
    assert (seen.source, seen.query) == ("runs", "run old")
    assert seen.excerpt.splitlines() == [
        "run old about the same incident, KubeContainerOOMKilled, began at"
        " 2026-02-28T10:00:00+00:00, 2 days before the alert began; it is pr_open",
        f"its cause was {finding.cause.value} of {finding.object}: {finding.summary}",
        f"its pull request is {pull.url}",
    ]


async def test_a_store_that_does_not_answer_is_missing_and_holds_nothing_up(collected):
    case = await collected(FakeRuns(error=TransientError("the run store did not answer")))
    (seen,) = (o.evidence for o in case.missing if o.evidence.source == "runs")
    assert seen.excerpt == "the run store did not answer"


async def test_without_a_run_nothing_is_looked_up(collected):
    store = FakeRuns(run(OPENED))
    await collected(store, run_id=None)
    assert store.met == []
