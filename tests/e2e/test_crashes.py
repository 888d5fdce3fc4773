"""SIGKILL at the worst moments: the run still ends in exactly one pull request."""

from collections import Counter

import pytest

from tocsin_cli.demo import proof
from tocsin_contracts import (
    AlertAccepted,
    ApprovalGranted,
    ApprovalRequested,
    HypothesisFormed,
    IncidentOpened,
    PlanDrafted,
    PullRequestOpened,
    RunFinished,
    RunState,
)
from tocsin_testing.crashing import CrashPoint
from tocsin_testing.harness import until
from tocsin_testing.pipeline import Crash, Pipeline, pipeline

pytestmark = pytest.mark.e2e

MOVERS = ("ingest", "rca", "validation", "action")
POINTS = (
    CrashPoint.AFTER_BEGIN,
    CrashPoint.BEFORE_COMMIT,
    CrashPoint.AFTER_COMMIT,
    CrashPoint.AFTER_PUBLISH,
)
CRASHES = [
    *(Crash(service, point) for service in MOVERS for point in POINTS),
    Crash("ingest", CrashPoint.AFTER_ADMIT),
    Crash("ingest", CrashPoint.AFTER_TELL),
    Crash("gateway", CrashPoint.AFTER_REDEEM),
    Crash("action", CrashPoint.AFTER_BRANCH),
    Crash("notifier", CrashPoint.BEFORE_COMMIT),
]
ONCE = (
    AlertAccepted,
    IncidentOpened,
    HypothesisFormed,
    PlanDrafted,
    ApprovalRequested,
    ApprovalGranted,
    PullRequestOpened,
)


@pytest.mark.parametrize("crash", CRASHES, ids=lambda c: f"{c.service}-{c.point}")
async def test_p1_to_p5_hold_when_a_service_is_killed(tmp_path, crash):
    async with pipeline(tmp_path, crash=crash) as running:
        receipt = await running.fire()
        await running.approve(receipt.run_id)
        run = await running.reach(receipt.run_id, RunState.PR_OPEN)

        assert (tmp_path / "crashed").exists(), "the crash point was never reached"
        assert proof.one_pull_request(running.written).holds
        assert proof.is_the_fix(proof.diff(running.scene, running.written.branches[0]))
        assert run.plan is not None
        assert run.pull_request is not None
        assert run.pull_request.plan_hash == run.plan.plan_hash
        await _each_fact_once(running)


async def _each_fact_once(running: Pipeline) -> None:
    def all_are_told(facts) -> bool:
        return {type(fact) for fact in facts} >= set(ONCE)

    # What a killed worker had not told yet comes with the redelivery, perhaps after the end.
    facts = await until(running.facts, all_are_told, 20)
    assert len({fact.id for fact in facts}) == len(facts)
    kinds = Counter(type(fact) for fact in facts)
    assert {kind.__name__: kinds[kind] for kind in ONCE} == {kind.__name__: 1 for kind in ONCE}
    assert kinds[RunFinished] == 0


@pytest.mark.parametrize("victim", ["nats", "valkey"])
async def test_p8_a_killed_server_comes_back_and_everything_drains(tmp_path, victim):
    async with pipeline(tmp_path) as running:
        receipt = await running.fire()
        await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        server = running.nats_server if victim == "nats" else running.valkey_server
        server.kill()
        server.start()
        await running.approve(receipt.run_id)
        await running.reach(receipt.run_id, RunState.PR_OPEN)
        assert proof.one_pull_request(running.written).holds
