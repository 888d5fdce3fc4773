"""Alerts behind which all is well, of the kinds that clusters send every day.

The cases are our own, in the words of Kubernetes; `calm` marks those that show it beyond doubt.
"""

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
from tocsin_rca.evidence.conclusion import DECISIVE, conclude
from tocsin_rca.ports import World
from tocsin_testing.readings import alerts_of

FILE = Path(__file__).parent / "healthy_cases.jsonl"
CASES = {case.id: case for case in recorded.read(FILE)}
CALM = {row["id"] for row in map(json.loads, FILE.read_text().splitlines()) if row["calm"]}


class NoHistory:
    source = "git"

    async def recent_changes(self, target, *, cluster, limit):
        return ()

    async def declared(self, namespace, names, *, cluster, limit):
        return ()


@pytest.fixture
async def seen(request, tmp_path):
    case = CASES[request.param]
    folder = tmp_path / "bundle"
    bundles.write(case, folder)
    payload = {"version": "4", "status": "firing", "alerts": [dict(case.alert)]}
    world = World(OneCluster(SnapshotCluster(folder)), NoHistory(), SystemClock())
    alert = alerts_of("alertmanager", payload)[0]
    return await collectors.collect(alert, world, Budget(500, 60, time.monotonic))


@pytest.mark.parametrize("seen", CASES, indirect=True)
def test_nothing_decisive_is_found_where_all_is_well(seen):
    found = analyzers.analyze(seen, analyzers.load())
    wrong = [f for f in found if f.confidence >= DECISIVE and f.cause != CauseClass.NO_INCIDENT]
    assert wrong == []
    assert [f for f in found if f.change] == []


@pytest.mark.parametrize("seen", sorted(CALM), indirect=True)
def test_what_is_seen_to_be_well_is_called_no_incident(seen):
    told = conclude(seen, analyzers.analyze(seen, analyzers.load()), 1, frozenset())
    assert told.finding.cause is CauseClass.NO_INCIDENT
