"""The `tocsin` command as people run it: it starts everything and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

TOCSIN = Path(sys.executable).with_name("tocsin")


@contextmanager
def up(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, int]]]:
    """Start `tocsin up`; yield its process and the processes that it announces."""
    command = [TOCSIN, "up", "--data", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            for line in process.stdout:
                if b"Tocsin is up." in line:
                    break
            pids = json.loads((folder / "up.json").read_bytes())["pids"]
            assert [name for name, pid in pids.items() if not alive(pid)] == []
            yield process, pids
        finally:
            process.kill()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def left(pids: dict[str, int]) -> list[str]:
    """Return who is still alive; the kernel gets two seconds to do what it was told."""
    deadline = time.monotonic() + 2
    while (names := [name for name, pid in pids.items() if alive(pid)]) and (
        time.monotonic() < deadline
    ):
        os.sched_yield()
    return names


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_everything_in_order(tmp_path, number):
    with up(tmp_path) as (process, pids):
        assert len(pids) == 9
        process.send_signal(number)
        said = process.stdout.read().decode()
        assert process.wait() == 0
    assert left(pids) == []
    assert "everything is stopped" in said
    assert "Traceback" not in said
    assert not (tmp_path / "up.json").exists()


def test_nothing_outlives_a_killed_supervisor(tmp_path):
    with up(tmp_path) as (process, pids):
        process.kill()
        process.stdout.read()
    assert left(pids) == []


def test_a_second_one_in_the_same_folder_is_refused(tmp_path):
    with up(tmp_path) as (process, _):
        second = subprocess.run(
            [TOCSIN, "up", "--data", tmp_path], capture_output=True, text=True, check=False
        )
        assert second.returncode == 1
        assert "already runs in" in second.stderr
        assert process.poll() is None


def demo(folder: Path, *flags: str, said: str = "") -> subprocess.CompletedProcess[str]:
    command = [TOCSIN, "demo", "--data", folder, *flags]
    elsewhere = {**os.environ, "TOCSIN_NATS_URL": "nats://127.0.0.1:9", "TOCSIN_CONFIG": "/nowhere"}
    return subprocess.run(
        command, input=said, capture_output=True, text=True, check=False, env=elsewhere
    )


def test_the_demo_shows_what_it_claims(tmp_path):
    told = demo(tmp_path / "demo", "--yes")
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stderr == ""
    assert "\x1b" not in told.stdout
    assert told.stdout.count("  ok  ") == 9
    assert '+                        memory: "1Gi"' in told.stdout


def test_after_a_no_the_demo_shows_that_nothing_was_written(tmp_path):
    told = demo(tmp_path / "demo", said="n\n")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "ok  nothing was written" in told.stdout


@pytest.mark.parametrize("victim", ["ingest", "gateway"])
def test_p8_the_demo_ends_in_one_pull_request_when_a_service_that_it_talks_to_is_killed(
    tmp_path, victim
):
    folder = tmp_path / "demo"
    command = [TOCSIN, "demo", "--yes", "--data", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            if b"gets 202" in line or b"Alertmanager sends" in line:
                break
        os.kill(json.loads((folder / "up.json").read_bytes())["pids"][victim], signal.SIGKILL)
        said = process.stdout.read().decode()
    assert process.returncode == 0, said
    assert said.count("  ok  ") == 9
