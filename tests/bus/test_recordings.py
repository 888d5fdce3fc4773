"""Recordings on a real store, and a run that is replayed by the command line from it."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Alert, CauseClass
from tocsin_kit import keys, store
from tocsin_kit.errors import TransientError
from tocsin_kit.recordings import MOST_BYTES, Recordings
from tocsin_rca import analyzers
from tocsin_rca.nodes import Nodes
from tocsin_rca.ports import World
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeClock

pytestmark = pytest.mark.servers

SAMPLE = Path(__file__).parents[1] / "unit" / "rca" / "samples" / "oom_limit"


class Nothing:
    """No history, and no news."""

    source = "git"

    async def recent_changes(self, target, *, cluster, limit):
        return ()

    async def declared(self, namespace, names, *, cluster, limit):
        return ()

    async def of(self, run_id):
        return ()


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url, text=False)
    yield client
    await client.aclose()


async def test_a_recording_is_kept_packed_and_for_some_days(redis):
    recordings, told = Recordings(redis, days=2), b"seen " * 10_000
    await recordings.keep(RUN, 1, b"old")
    await recordings.keep(RUN, 1, told)
    assert await recordings.of(RUN, 1) == told
    assert await recordings.of(RUN, 2) is None
    key = keys.recording(RUN, 1)
    assert await redis.strlen(key) < len(told) / 10
    left = await redis.pttl(key)
    assert 0 < left <= timedelta(days=2).total_seconds() * 1000


async def test_a_recording_that_is_too_large_is_not_kept(redis):
    recordings = Recordings(redis, days=2)
    await recordings.keep(RUN, 1, os.urandom(MOST_BYTES + 1))
    assert await recordings.of(RUN, 1) is None


async def test_a_store_that_is_away_is_a_matter_of_time():
    client = store.connect("redis://127.0.0.1:1/0", text=False)
    with pytest.raises(TransientError, match="keep the recording of run 'r1'"):
        await Recordings(client, days=2).keep(RUN, 1, b"x")
    await client.aclose()


def tocsin(redis_url, *arguments):
    known = {name: text for name, text in os.environ.items() if not name.startswith("TOCSIN_")}
    return subprocess.run(
        [sys.executable, "-m", "tocsin_cli", *arguments],
        env=known | {"TOCSIN_REDIS_URL": redis_url},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.e2e
async def test_the_command_line_replays_a_run_from_the_store_alone(redis, redis_url, tmp_path):
    world = World(OneCluster(SnapshotCluster(SAMPLE / "snapshot")), Nothing(), FakeClock())
    recordings = Recordings(redis, days=2)
    budget = Budget(500, 30, lambda: 0.0)
    nodes = Nodes(world, analyzers.load(), lambda: budget, Nothing(), recordings)
    alert = Alert.model_validate_json((SAMPLE / "alert.json").read_bytes())
    ruled_out = [CauseClass.OOM_KILLED_LIMIT_TOO_LOW]
    for number, rejected in ((1, []), (3, ruled_out)):
        state = {"run_id": RUN, "alert": alert, "attempt": number, "rejected": rejected}
        for step in (nodes.collect, nodes.analyze, nodes.conclude):
            state |= await step(state)

    data = ("--data", str(tmp_path))
    done = tocsin(redis_url, "replay", RUN, *data)
    assert (done.returncode, done.stderr) == (0, "")
    head, first, second, third = done.stdout.split("\n\n")
    assert head == f"run {RUN}"
    assert first.startswith("attempt 1, seen ")
    assert "now:  " in first
    assert "oom_killed_limit_too_low of Deployment billing/invoice-renderer" in first
    assert second == "attempt 2: it was not recorded"
    assert third.startswith("attempt 3, seen ")
    assert "now:  inconclusive: " in third
    assert first.endswith("no difference")
    assert third.endswith("no difference\n")
    one = tocsin(redis_url, "replay", RUN, "--attempt", "3", "--format", "json", *data)
    told = json.loads(one.stdout)
    assert [attempt["attempt"] for attempt in told["attempts"]] == [3]
    assert (told["run_id"], told["not_recorded"]) == (RUN, [])
    none = tocsin(redis_url, "replay", RUN, "--attempt", "2", *data)
    assert "nothing is recorded of attempt 2 of run" in none.stderr
    absent = tocsin(redis_url, "replay", "r404", *data)
    assert absent.returncode == 1
    assert "nothing is recorded of run 'r404'" in absent.stderr
