"""What rca saw of a run, from all of its places, is seen by the next run and can be replayed."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from tocsin_contracts import EvidenceKind, RunState
from tocsin_testing.pipeline import pipeline

pytestmark = pytest.mark.e2e

NOBODY = "http://127.0.0.1:1"


def changed(payload, **fields):
    told = json.loads(payload)
    told["alerts"] = [one | fields for one in told["alerts"]]
    return json.dumps(told).encode()


def replayed(redis_url, run_id, folder):
    known = {name: text for name, text in os.environ.items() if not name.startswith("TOCSIN_")}
    return subprocess.run(
        [sys.executable, "-m", "tocsin_cli", "replay", run_id, "--data", str(folder)],
        env=known | {"TOCSIN_REDIS_URL": redis_url},
        capture_output=True,
        text=True,
        check=False,
    )


async def test_a_run_is_replayed_and_the_next_one_knows_what_came_of_it(tmp_path):
    runbooks = tmp_path / "runbooks"
    runbooks.mkdir()
    settings = {"TOCSIN_KNOWLEDGE_DIR": str(runbooks), "TOCSIN_PROMETHEUS_URL": NOBODY}
    async with pipeline(tmp_path, settings=settings) as running:
        payload = running.scene.payload.read_bytes()
        title = json.loads(payload)["alerts"][0]["labels"]["alertname"]
        (runbooks / f"{title}.md").write_text("Look at the limit first.\n")
        first = (await running.fire()).run_id
        run = await running.reach(first, RunState.AWAITING_APPROVAL)
        evidence = run.hypothesis.evidence
        (runbook,) = (one for one in evidence if one.kind is EvidenceKind.RUNBOOK)
        assert runbook.excerpt == "Look at the limit first.\n"
        away = [one for one in evidence if one.source == "prometheus"]
        assert {one.kind for one in away} == {EvidenceKind.MISSING}

        await running.fire(changed(payload, status="resolved"))
        await running.until(first, lambda run: run.finished is not None)
        now = datetime.now(UTC).isoformat()
        second = (await running.fire(changed(payload, startsAt=now))).run_id
        assert second != first
        run = await running.reach(second, RunState.AWAITING_APPROVAL)
        (past,) = (one for one in run.hypothesis.evidence if one.kind is EvidenceKind.PAST)
        assert past.query == f"run {first}"
        assert "its cause was oom_killed_limit_too_low" in past.excerpt

        done = replayed(running.valkey_server.url, second, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("no difference\n")
