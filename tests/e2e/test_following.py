"""What people do with the pull request, and what the alerts say then: every service a process."""

import hashlib
import hmac
import json

import httpx
import pytest

from tocsin_cli.demo.git import git
from tocsin_cli.demo.history import BRANCH
from tocsin_contracts import FixIneffective, FixVerified, PullRequestMerged, RunState
from tocsin_contracts.views import RunView
from tocsin_testing.pipeline import FORGE_SECRET, Pipeline, pipeline

pytestmark = pytest.mark.e2e

SOON = {"TOCSIN_VERIFY_MINUTES": "0.02", "TOCSIN_SYNC_MINUTES": "0"}
PATIENT = {"TOCSIN_VERIFY_MINUTES": "0.02", "TOCSIN_SYNC_MINUTES": "30"}


async def opened(running: Pipeline) -> RunView:
    receipt = await running.fire()
    await running.approve(receipt.run_id)
    return await running.reach(receipt.run_id, RunState.PR_OPEN)


async def told(running: Pipeline, run: RunView) -> None:
    """Have the forge tell that something happened to the pull request."""
    pull = run.pull_request
    assert pull is not None
    body = json.dumps(
        {
            "action": "closed",
            "number": 1,
            "pull_request": {
                "number": 1,
                "merged": False,
                "html_url": pull.url,
                "head": {"ref": pull.head_branch, "repo": {"full_name": pull.repo}},
            },
            "repository": {"full_name": pull.repo},
            "sender": {"id": 11, "login": "ana"},
        }
    ).encode()
    signature = hmac.new(FORGE_SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": hashlib.sha256(pull.commit.encode()).hexdigest()[:36],
        "X-Hub-Signature-256": f"sha256={signature}",
    }
    async with httpx.AsyncClient(base_url=running.ingest_url) as client:
        answer = await client.post("/forge/github", content=body, headers=headers)
    assert (answer.status_code, answer.json()["run_id"]) == (202, run.run_id)


async def merged(running: Pipeline, run: RunView) -> None:
    assert run.pull_request is not None
    git(running.scene.git_dir, "update-ref", f"refs/heads/{BRANCH}", run.pull_request.commit)
    await told(running, run)


async def cleared(running: Pipeline) -> None:
    payload = json.loads(running.scene.payload.read_text())
    for alert in payload["alerts"]:
        alert["status"] = "resolved"
    await running.fire(json.dumps(payload).encode())


async def test_a_fix_that_is_merged_and_helps_is_verified(tmp_path):
    async with pipeline(tmp_path, settings=PATIENT) as running:
        run = await opened(running)
        await merged(running, run)
        await running.reach(run.run_id, RunState.PR_MERGED)
        await cleared(running)
        ended = await running.reach(run.run_id, RunState.RESOLVED)
        assert "The alerts cleared" in ended.ended
        facts = {type(fact) for fact in await running.facts()}
        assert {PullRequestMerged, FixVerified} <= facts
        assert FixIneffective not in facts


async def test_a_fix_that_is_merged_and_does_not_help_is_undone_after_a_yes(tmp_path):
    async with pipeline(tmp_path, settings=SOON) as running:
        run = await opened(running)
        before = git(running.scene.git_dir, "rev-parse", f"{BRANCH}^{{tree}}")
        await merged(running, run)
        await running.approve(run.run_id)
        undone = await running.until(
            run.run_id,
            lambda now: now.state is RunState.PR_OPEN and now.pull_request != run.pull_request,
        )
        assert undone.plan is not None
        assert undone.plan.title.startswith("Undo: ")
        assert undone.pull_request is not None
        after = git(running.scene.git_dir, "rev-parse", f"{undone.pull_request.commit}^{{tree}}")
        assert after == before, "every byte is what it was"
        kinds = [type(fact) for fact in await running.facts()]
        assert kinds.count(FixIneffective) == 1
        assert FixVerified not in kinds


async def test_d4_a_pull_request_that_a_person_closes_ends_the_run_and_none_follows(tmp_path):
    async with pipeline(tmp_path) as running:
        run = await opened(running)
        assert run.pull_request is not None
        head = f"refs/heads/{run.pull_request.head_branch}"
        git(running.scene.git_dir, "update-ref", "-d", head)
        await told(running, run)
        ended = await running.reach(run.run_id, RunState.PR_CLOSED)
        assert "Nothing is proposed for this issue before" in ended.ended
        await running.fire()
        assert len(running.written.records) == 1
        assert running.written.branches == ()
