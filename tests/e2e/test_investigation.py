"""A model of one's own over HTTP, every service a process: what it finds waits for people."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

from tocsin_cli.demo import proof
from tocsin_contracts import CauseClass, RunState, Verdict
from tocsin_testing.own_model import OwnModel
from tocsin_testing.pipeline import pipeline

pytestmark = pytest.mark.e2e

WEB = {"kind": "Deployment", "namespace": "storefront", "name": "checkout-web"}
IMAGE = ["spec", "template", "spec", "containers", "[name=web]", "image"]
NAME = "registry.example.com/storefront/checkout-web"
RESULT = {
    "cause": "bad_release",
    "object": WEB,
    "verdict": "confirmed",
    "summary": "The last release made it slow.",
    "claims": [{"text": "The last commit changed it.", "evidence": ["m1"]}],
    "disproof": "It is slow with the old image too.",
}


def alert(running):
    """The demo's alert, told of a workload that nothing known is wrong with."""
    payload = json.loads(running.scene.payload.read_bytes())
    (first, *_), labels = payload["alerts"], {"deployment": "checkout-web", "container": "web"}
    given = {"alertname": "CheckoutIsSlow", "namespace": "storefront", "cluster": "prod-eu-1"}
    first |= {"labels": given | labels | {"severity": "warning"}, "fingerprint": "f00"}
    first["annotations"] = {"summary": "It answers slowly."}
    return json.dumps(payload | {"alerts": [first], "commonLabels": given}).encode()


def replayed(store, run_id, folder):
    """Replay a run with nothing but what is in the store."""
    known = {name: text for name, text in os.environ.items() if not name.startswith("TOCSIN_")}
    return subprocess.run(
        [sys.executable, "-m", "tocsin_cli", "replay", run_id, "--data", str(folder)],
        env=known | {"TOCSIN_REDIS_URL": store},
        capture_output=True,
        text=True,
        check=False,
    )


@asynccontextmanager
async def investigating(folder, model, **more):
    """Run every service, and rca with the model."""
    async with (
        model.listening() as settings,
        pipeline(folder, settings=settings, **more) as running,
    ):
        receipt = await running.fire(alert(running))
        yield running, receipt.run_id


async def test_a_model_finds_what_no_analyzer_knows_and_its_change_waits_for_people(tmp_path):
    change = {"object": WEB, "path": IMAGE, "old": f"{NAME}:3.18.2", "new": f"{NAME}:3.17.5"}
    model = OwnModel(("get", WEB), ("submit", RESULT | {"change": change}))
    async with investigating(tmp_path, model) as (running, run_id):
        run = await running.until(run_id, lambda run: run.model_use is not None, seconds=60)
        assert run.hypothesis is not None, run.timeline
        assert run.hypothesis.finding.cause is CauseClass.BAD_RELEASE
        assert run.hypothesis.verdict is Verdict.LIKELY
        used = run.model_use
        assert (used.model_calls, used.tool_calls, used.tokens) == (2, 1, 106)
        assert used.cost is None, "nobody knows the price of one's own model"
        waiting = await running.reach(run_id, RunState.AWAITING_APPROVAL)
        assert "3.17.5" in waiting.plan.diff
        assert running.written == proof.Written((), ()), "nothing is written before the yes"
        store = running.valkey_server.url
        again = await asyncio.to_thread(replayed, store, run_id, tmp_path)
        assert (again.returncode, again.stderr) == (0, "")
        assert "2 recorded answers of a model" in again.stdout
        assert again.stdout.endswith("no difference\n")
    assert len(model.asked) == 2, "the replay asks nobody"
    assert "evidence m1" in json.dumps(model.asked[1]["messages"])


async def test_a_person_stops_an_investigation_from_wherever_they_are(tmp_path):
    model = OwnModel(("get", WEB))
    async with investigating(tmp_path, model, replicas=2) as (running, run_id):
        async with asyncio.timeout(60):
            while len(model.asked) < 2:  # noqa: ASYNC110 - another process is what moves it
                await asyncio.sleep(0.05)
        await running.gateway.cancel(run_id, "enough")
        async with asyncio.timeout(10):
            await model.left.wait()
        ended = await running.reach(run_id, RunState.CANCELLED, seconds=10)
        assert "local stopped the run: enough" in ended.finished.sentence
        assert ended.hypothesis is None
