"""A whole run where every service has no more rights at bus and store than it needs."""

import asyncio
from datetime import UTC, datetime

import pytest

from tocsin_cli import stack
from tocsin_cli.client import Gateway, Ingest
from tocsin_cli.demo import proof, stage
from tocsin_cli.settings import Access
from tocsin_cli.workspace import Workspace
from tocsin_contracts import RunState

pytestmark = pytest.mark.e2e


async def _reach(gateway, run_id, state):
    async with asyncio.timeout(40):
        while (run := await gateway.run(run_id)).state is not state:
            assert not run.state.terminal, run.sentence
            await asyncio.sleep(0.1)
    return run


async def test_a_secured_deployment_makes_an_alert_a_pull_request_and_nothing_is_denied(
    tmp_path, monkeypatch
):
    for name in ("TOCSIN_NATS_URL", "TOCSIN_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    scene, lines = stage.build(tmp_path, datetime.now(UTC)), []
    workspace = Workspace(tmp_path / "data")

    def say(name, line):
        lines.append(f"{name}: {line}")

    with workspace.claimed():
        async with stack.running(workspace, scene.world, say, usual={}, secure=True) as up:
            tokens = workspace.tokens()
            gateway = Gateway(Access(up.gateway_url, tokens.api_token))
            ingest = Ingest(Access(up.ingest_url, tokens.ingest_token))
            async with gateway, ingest:
                receipt = await ingest.alertmanager(scene.payload.read_bytes())
                run = await _reach(gateway, receipt.run_id, RunState.AWAITING_APPROVAL)
                await gateway.approve(receipt.run_id, run.plan.plan_hash)
                await _reach(gateway, receipt.run_id, RunState.PR_OPEN)
            assert proof.one_pull_request(proof.written(scene)).holds
    said = "\n".join(lines)
    assert [line for line in lines if "bus.denied" in line or "NOPERM" in line] == []
    assert not any(password in said for password in workspace.passwords().values())
    kept = [workspace.passwords_file, *(tmp_path / "data").glob("*/*.[ac]*[lf]")]
    assert [oct(path.stat().st_mode & 0o777) for path in kept] == ["0o600"] * 3
