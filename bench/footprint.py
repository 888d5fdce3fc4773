"""How soon each service is ready and what memory it holds: alone, and all of `tocsin up`.

Run it with `python bench/footprint.py`. The yardstick is a Python that imports uvicorn and nothing
of ours, started in turns. The aims are: all of `tocsin up` ready within 6 s, a receiver within
90 MiB, any service within 150 MiB.
"""

import asyncio
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from tocsin_cli.demo import stage
from tocsin_cli.stack import SERVICES
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.ensure import ensure
from tocsin_kit.processes import LOOPBACK, free_ports

ROUNDS = 2
BARE = "import uvicorn, asyncio, time; print('ready', flush=True); time.sleep(3600)"
PATIENCE = 60.0
MIB = 1024 * 1024


@dataclass(slots=True)
class Taken:
    """What one thing took in each round: seconds, processor seconds, and bytes."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


def memory(pid: int) -> int:
    """Return the resident bytes that are a process's own, and its share of what is not."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def processor(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def ready(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def one(name: str, environment: dict[str, str], taken: Taken) -> None:
    """Start a service by itself, and end it."""
    (port,) = free_ports(1)
    own = {**environment, f"TOCSIN_{name.upper()}_PORT": str(port)}
    began = time.perf_counter()
    command = [sys.executable, "-m", f"tocsin_{name}"]
    process = subprocess.Popen(command, env=own, stderr=subprocess.DEVNULL)
    try:
        while not ready(port):
            if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                raise SystemExit(f"{name} did not become ready")
            time.sleep(0.01)
        taken.seconds.append(time.perf_counter() - began)
        taken.processor.append(processor(process.pid))
        taken.memory.append(resident(process.pid))
    finally:
        process.terminate()
        process.wait()


def bare(taken: Taken) -> None:
    """Start a Python that only imports the server of HTTP."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", BARE], stdout=subprocess.PIPE)
    try:
        if process.stdout:
            process.stdout.readline()
        taken.seconds.append(time.perf_counter() - began)
        taken.processor.append(processor(process.pid))
        taken.memory.append(resident(process.pid))
    finally:
        process.kill()
        process.communicate()


def scene(folder: Path) -> dict[str, str]:
    """Return the settings that name the repositories and the recorded cluster of the demo."""
    (folder / "stage").mkdir()
    return stage.build(folder / "stage", datetime.now(UTC)).world.environment()


def whole(folder: Path, environment: dict[str, str], taken: Taken) -> None:
    """Start everything on one machine, servers too; memory is what all processes share out."""
    data = folder / "up"
    world = scene(folder)
    command = [sys.executable, "-m", "tocsin_cli", "up", "--data", str(data)]
    began = time.perf_counter()
    process = subprocess.Popen(command, env={**environment, **world}, stdout=subprocess.DEVNULL)
    try:
        announced = data / "up.json"
        while not announced.exists():
            if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                raise SystemExit("tocsin up did not become ready")
            time.sleep(0.02)
        taken.seconds.append(time.perf_counter() - began)
        pids = json.loads(announced.read_text(encoding="utf-8"))["pids"].values()
        taken.processor.append(sum(processor(pid) for pid in pids))
        taken.memory.append(sum(memory(pid) for pid in pids))
    finally:
        process.terminate()
        process.wait()


def measured() -> dict[str, Taken]:
    found = {name: Taken() for name in ("bare", *SERVICES, "up")}
    clean = {n: v for n, v in os.environ.items() if not n.startswith("TOCSIN_")}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        with NatsServer(folder / "nats") as bus, ValkeyServer(folder / "valkey") as store:
            asyncio.run(ensure(bus.url, ack_wait=10))
            world = scene(folder)
            told = {
                **clean,
                **world,
                "TOCSIN_NATS_URL": bus.url,
                "TOCSIN_REDIS_URL": store.url,
                "TOCSIN_INGEST_TOKENS": '["token-of-the-bench-0123456789"]',
                "TOCSIN_API_TOKENS": '{"ana": "token-of-the-bench-9876543210"}',
            }
            for _ in range(ROUNDS):
                bare(found["bare"])
                for name in SERVICES:
                    one(name, told, found[name])
        for number in range(ROUNDS):
            (folder / str(number)).mkdir()
            whole(folder / str(number), clean, found["up"])
    return found


def main() -> None:
    found = measured()
    floor = found["bare"]
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'':12} {'ready s':>8} {'÷ bare':>7} {'CPU s':>7} {'÷ bare':>7} {'MiB':>6}")
    for name, taken in found.items():
        ratio = min(taken.seconds) / min(floor.seconds)
        cpu = median(taken.processor) / max(median(floor.processor), 0.01)
        print(
            f"{name:12} {min(taken.seconds):8.2f} {ratio:7.1f} {median(taken.processor):7.2f} "
            f"{cpu:7.1f} {median(taken.memory) / MIB:6.0f}"
        )


if __name__ == "__main__":
    main()
