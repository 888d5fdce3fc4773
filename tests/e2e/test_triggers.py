"""What sets ingest off besides alerts: a test from the command line, and news of a forge."""

import hashlib
import hmac
import io
import json

import httpx
import pytest
from rich.console import Console

from tocsin_cli import alerts
from tocsin_cli.demo import proof
from tocsin_cli.journey import Journey
from tocsin_contracts import ForgeEventKind, ForgeEventReceived, RunState
from tocsin_kit.clock import SystemClock
from tocsin_testing.pipeline import FORGE_SECRET, Pipeline, pipeline

pytestmark = pytest.mark.e2e


async def test_a_harmless_alert_goes_through_every_service_and_writes_nothing(tmp_path):
    async with pipeline(tmp_path) as running:
        said = io.StringIO()
        console = Console(file=said, width=200)
        journey = Journey(running.ingest, running.gateway, console, SystemClock())
        verdict = await journey.travel(alerts.harmless(), 30)
        assert "the whole way" in verdict
        for service in ("ingest", "rca", "validation"):
            assert f" s  {service:<10}  " in said.getvalue()
        assert running.written == proof.Written((), ())


async def merged(running: Pipeline, repo: str, branch: str) -> httpx.Response:
    """Tell ingest, as GitHub would, that a pull request was merged."""
    pull = {
        "number": 7,
        "html_url": f"https://github.example/{repo}/pull/7",
        "head": {"ref": branch, "repo": {"full_name": repo}},
        "merged": True,
        "merge_commit_sha": "3" * 40,
    }
    sender = {"id": 11, "login": "ana"}
    told = {"action": "closed", "pull_request": pull, "repository": {"full_name": repo}}
    body = json.dumps(told | {"sender": sender}).encode()
    signature = hmac.new(FORGE_SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature-256": f"sha256={signature}",
    }
    async with httpx.AsyncClient(base_url=running.ingest_url) as client:
        return await client.post("/forge/github", content=body, headers=headers)


async def test_p5_a_merge_that_is_told_twice_is_one_fact_of_the_run_that_opened_the_request(
    tmp_path,
):
    async with pipeline(tmp_path) as running:
        receipt = await running.fire()
        await running.approve(receipt.run_id)
        run = await running.reach(receipt.run_id, RunState.PR_OPEN)
        assert run.pull_request is not None
        place = (run.pull_request.repo, run.pull_request.head_branch)
        answers = [await merged(running, *place) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [202, 202]
        assert {answer.json()["run_id"] for answer in answers} == {run.run_id}
        told = [fact for fact in await running.facts() if isinstance(fact, ForgeEventReceived)]
        assert [(fact.run_id, fact.kind) for fact in told] == [(run.run_id, ForgeEventKind.MERGED)]
