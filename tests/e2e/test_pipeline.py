"""Alert in, pull request out: every service a process, on a real bus and a real store."""

import asyncio
import json
from collections import Counter

import pytest

from tocsin_cli.demo import proof
from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    ApprovalGranted,
    PlanDrafted,
    PullRequestOpened,
    RunFinished,
    RunState,
)
from tocsin_kit.errors import TocsinError
from tocsin_testing.pipeline import Pipeline, pipeline

pytestmark = pytest.mark.e2e


async def _pull_request(running: Pipeline) -> str:
    receipt = await running.fire()
    await running.approve(receipt.run_id)
    await running.reach(receipt.run_id, RunState.PR_OPEN)
    return receipt.run_id


async def test_three_alerts_of_one_workload_become_one_run_and_one_pull_request(tmp_path):
    async with pipeline(tmp_path) as running:
        receipt = await running.fire()
        assert [one.status for one in receipt.alerts] == ["opened", "attached", "attached"]
        assert len({one.run_id for one in receipt.alerts}) == 1

        waiting = await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        assert running.written == proof.Written((), ()), "nothing is written before the yes"
        await running.approve(receipt.run_id)
        run = await running.reach(receipt.run_id, RunState.PR_OPEN)

        assert run.plan is not None
        assert waiting.plan is not None
        assert run.plan.plan_hash == waiting.plan.plan_hash
        assert proof.one_pull_request(running.written).holds
        assert proof.is_the_fix(proof.diff(running.scene, running.written.branches[0]))


async def test_the_same_alert_again_attaches_and_opens_no_second_pull_request(tmp_path):
    async with pipeline(tmp_path) as running:
        run_id = await _pull_request(running)
        before = running.written
        again = await running.fire()
        assert {one.run_id for one in again.alerts} == {run_id}
        assert {one.status for one in again.alerts} == {"attached"}
        await running.until(run_id, lambda run: run.occurrences == 6)
        assert running.written == before


async def test_p3_a_denied_plan_is_never_written(tmp_path):
    async with pipeline(tmp_path) as running:
        receipt = await running.fire()
        run = await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        assert run.plan is not None
        await running.gateway.reject(receipt.run_id, run.plan.plan_hash, "not tonight")
        ended = await running.reach(receipt.run_id, RunState.REJECTED)
        assert "not tonight" in ended.ended
        assert running.written == proof.Written((), ())
        with pytest.raises(TocsinError, match="already denied by local"):
            await running.gateway.approve(receipt.run_id, run.plan.plan_hash)


async def test_p4_a_cleared_alert_withdraws_the_approval_and_ends_the_run(tmp_path):
    async with pipeline(tmp_path) as running:
        receipt = await running.fire()
        run = await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        payload = json.loads(running.scene.payload.read_text())
        for alert in payload["alerts"]:
            alert["status"] = "resolved"
        cleared = await running.fire(json.dumps(payload).encode())
        assert {one.status for one in cleared.alerts} == {"resolved"}
        ended = await running.reach(receipt.run_id, RunState.NO_CHANGE)
        assert ended.finished is not None
        assert ended.finished.reason == "alert_cleared"
        assert run.plan is not None
        with pytest.raises(TocsinError):
            await running.gateway.approve(receipt.run_id, run.plan.plan_hash)


async def test_a_cancelled_run_ends_and_can_no_longer_be_approved(tmp_path):
    async with pipeline(tmp_path) as running:
        receipt = await running.fire()
        run = await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        await running.gateway.cancel(receipt.run_id, "a drill")
        ended = await running.reach(receipt.run_id, RunState.CANCELLED)
        assert "a drill" in ended.ended
        assert run.plan is not None
        with pytest.raises(TocsinError):
            await running.gateway.approve(receipt.run_id, run.plan.plan_hash)
        assert running.written == proof.Written((), ())


async def test_two_replicas_of_every_service_still_make_one_pull_request(tmp_path):
    async with pipeline(tmp_path, replicas=2) as running:
        await _pull_request(running)
        assert proof.one_pull_request(running.written).holds
        kinds = Counter(type(fact) for fact in await running.facts())
        assert kinds[AlertAccepted] == kinds[PlanDrafted] == kinds[PullRequestOpened] == 1


async def test_many_clicks_at_once_are_one_decision(tmp_path):
    async with pipeline(tmp_path) as running:
        receipt = await running.fire()
        run = await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        assert run.plan is not None
        clicks = [running.gateway.approve(receipt.run_id, run.plan.plan_hash) for _ in range(20)]
        answers = await asyncio.gather(*clicks, return_exceptions=True)
        assert sum(not isinstance(answer, BaseException) for answer in answers) == 1
        await running.reach(receipt.run_id, RunState.PR_OPEN)
        kinds = Counter(type(fact) for fact in await running.facts())
        assert kinds[ApprovalGranted] == kinds[PullRequestOpened] == 1
        assert kinds[AlertRepeated] == 2
        assert kinds[RunFinished] == 0
