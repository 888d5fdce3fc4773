"""What looks like a healthy case and is none: one thing in it is otherwise."""

import json
import time
from pathlib import Path

import pytest

from tocsin_agents.budget import Budget
from tocsin_cli.cases import bundles, recorded
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import CauseClass
from tocsin_kit.clock import SystemClock
from tocsin_rca import analyzers, collectors
from tocsin_rca.ports import World
from tocsin_testing.readings import alerts_of

HEALTHY = Path(__file__).parent / "healthy_cases.jsonl"
OTHERWISE = {
    "claim-waits-for-its-pod": ("WaitForFirstConsumer", "ProvisioningFailed"),
    "evicted-pods-left-over": ("1/1   1   1   90d", "0/1   1   0   90d"),
    "error-counters-at-zero": ("level=debug", "level=error"),
    "leader-election": ("level=info", "level=error"),
    "throttled-reloader": ("no anomaly: 0 errors", "p99 latency rose from 20 to 900"),
    "certificate-renewed": ("is up to date and has not expired", "is about to expire"),
    "hpa-has-room-again": ("8         3 ", "8         8 "),
    "errors-are-over": ("200 12ms", "500 12ms"),
    "node-came-back": ("Ready    <none>", "Ready,SchedulingDisabled    <none>"),
    "ready-after-a-restart": ("1 (3h ago)", "9 (3m ago)"),
}


class NoHistory:
    source = "git"

    async def recent_changes(self, target, *, cluster, limit):
        return ()

    async def declared(self, namespace, names, *, cluster, limit):
        return ()


@pytest.mark.parametrize("id", OTHERWISE)
async def test_a_case_with_one_thing_wrong_is_not_called_healthy(id, tmp_path):
    old, new = OTHERWISE[id]
    row = next(line for line in HEALTHY.read_text().splitlines() if json.loads(line)["id"] == id)
    assert old in row
    path, folder = tmp_path / "case.jsonl", tmp_path / "bundle"
    path.write_text(row.replace(old, new))
    case = recorded.read(path)[0]
    bundles.write(case, folder)
    alert = alerts_of(
        "alertmanager", {"version": "4", "status": "firing", "alerts": [dict(case.alert)]}
    )[0]
    world = World(OneCluster(SnapshotCluster(folder)), NoHistory(), SystemClock())
    seen = await collectors.collect(alert, world, Budget(500, 60, time.monotonic))
    found = analyzers.analyze(seen, analyzers.load())
    assert CauseClass.NO_INCIDENT not in {finding.cause for finding in found}
