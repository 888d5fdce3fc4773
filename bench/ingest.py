"""What it costs to take an alert in, from the webhook to the durable acknowledgement.

Run it with `just bench ingest`; `--quick` only shows that it works. Trust the ratios: every round
measures all targets in turn, each as one process on the same bus, store and machine.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, islice, repeat
from pathlib import Path
from statistics import median

import load
from redis.asyncio import Redis

from tocsin_kit import keys, store
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.ensure import ensure
from tocsin_kit.processes import LOOPBACK, free_ports

WEBHOOK = "/webhook/alertmanager"
CONNECTIONS = 32
STARTS = 3
STORM = "storm"
"""The workload that a storm is about."""

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int = 5
    requests: int = 2000
    storm: int = 10_000
    alerts: int = 100_000


QUICK = Size(rounds=2, requests=100, storm=500, alerts=2000)


class Server:
    """One process under load."""

    def __init__(self, command: list[str], port: int, **environment: str) -> None:
        begun = time.monotonic()
        self.port = port
        self._process = subprocess.Popen(
            [sys.executable, *command], env=os.environ | environment, stderr=subprocess.DEVNULL
        )
        self.seconds_to_start = self._until_it_answers() - begun

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def resident(self) -> float:
        """MiB of memory."""
        fields = Path(f"/proc/{self._process.pid}/statm").read_text().split()
        return int(fields[1]) * PAGE / MIB

    def _until_it_answers(self) -> float:
        while True:
            try:
                with socket.create_connection((LOOPBACK, self.port)):
                    return time.monotonic()
            except OSError:
                time.sleep(0.01)


def alert(name: str) -> dict[str, object]:
    """Return one alert of a workload, as Alertmanager sends it."""
    labels = {
        "alertname": "KubePodCrashLooping",
        "cluster": "prod-eu-1",
        "namespace": "payments",
        "deployment": name,
        "container": "api",
        "severity": "critical",
        "job": "kube-state-metrics",
        "prometheus": "monitoring/k8s",
        "team": "payments",
    }
    annotations = {
        "summary": "A pod restarts over and over",
        "description": f"A container of {name} restarted 7 times within 10 minutes. " * 18,
        "runbook_url": "https://runbooks.example.com/KubePodCrashLooping",
    }
    return {
        "status": "firing",
        "labels": labels,
        "annotations": annotations,
        "startsAt": "2025-06-01T10:00:00.123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example.com/graph?g0.expr=up",
        "fingerprint": "aabbccddeeff0011",
    }


def webhook(*names: str) -> bytes:
    """Return a request with one alert for each name; with one it is some 2 KB."""
    body = {
        "version": "4",
        "groupKey": '{}:{alertname="KubePodCrashLooping"}',
        "status": "firing",
        "receiver": "tocsin",
        "externalURL": "http://alertmanager.example.com",
        "alerts": [alert(name) for name in names],
    }
    return load.request(WEBHOOK, json.dumps(body).encode())


class Bench:
    """The servers, the targets, and names of workloads that were never used before."""

    def __init__(self, size: Size, stack: ExitStack, data: Path) -> None:
        self.size = size
        self.nats = stack.enter_context(NatsServer(data / "nats"))
        self.valkey = stack.enter_context(ValkeyServer(data / "valkey"))
        asyncio.run(ensure(self.nats.url, ack_wait=10))
        self._numbers = count()
        self._stack = stack

    def start(self) -> None:
        self.floor = self._server(["bench/yardsticks.py", "floor"])
        self.no_op = self._server(["bench/yardsticks.py", "no-op"])
        self.ingest = self.receiver()

    def receiver(self) -> Server:
        (port,) = free_ports(1)
        server = Server(
            ["-m", "tocsin_ingest", "--role", "receiver"],
            port,
            TOCSIN_DEV="true",
            TOCSIN_INGEST_PORT=str(port),
            TOCSIN_NATS_URL=self.nats.url,
            TOCSIN_REDIS_URL=self.valkey.url,
        )
        self._stack.callback(server.close)
        return server

    def new(self) -> Iterator[bytes]:
        return (webhook(f"api-{number}") for number in self._numbers)

    def batch(self, alerts: int) -> bytes:
        return webhook(*(f"api-{number}" for number in islice(self._numbers, alerts)))

    def _server(self, command: list[str]) -> Server:
        (port,) = free_ports(1)
        server = Server([*command, str(port), self.nats.url], port)
        self._stack.callback(server.close)
        return server


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request cost its server, in microseconds, and how it felt to its sender."""

    cpu: float
    per_second: float
    p99: float


async def cost(server: Server, requests: list[bytes], connections: int) -> Cost:
    before = server.cpu
    answers = await load.fire(server.port, iter(requests), connections)
    if answers.refused:
        raise SystemExit(f"refused with {answers.refused[0]}: {answers.last.decode()}")
    spent = 1e6 * (server.cpu - before) / len(requests)
    return Cost(spent, answers.per_second, answers.wait(0.99))


async def compare(bench: Bench, connections: int) -> dict[str, Cost]:
    """Measure every target in turns; the first round only warms up."""
    size = bench.size
    same = webhook("same")
    targets = {
        "floor": (bench.floor, repeat(same)),
        "no-op FastAPI": (bench.no_op, repeat(same.replace(WEBHOOK.encode(), b"/", 1))),
        "ingest, repeat": (bench.ingest, repeat(same)),
        "ingest, new run": (bench.ingest, bench.new()),
    }
    found: dict[str, list[Cost]] = {name: [] for name in targets}
    for round_ in range(size.rounds + 1):
        for name, (server, requests) in targets.items():
            one = await cost(server, list(islice(requests, size.requests)), connections)
            if round_:
                found[name].append(one)
    return {name: _median(costs) for name, costs in found.items()}


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        median(one.cpu for one in costs),
        median(one.per_second for one in costs),
        median(one.p99 for one in costs),
    )


def show(connections: int, costs: dict[str, Cost]) -> None:
    floor, no_op = costs["floor"], costs["no-op FastAPI"]
    print(f"\n| {connections} connection(s) | CPU µs | ÷ floor | requests/s | ÷ FastAPI | p99 ms |")
    print("|---|---|---|---|---|---|")
    for name, one in costs.items():
        ratios = f"{one.cpu / floor.cpu:.2f} | {one.per_second:.0f}"
        rate = one.per_second / no_op.per_second
        print(f"| {name} | {one.cpu:.0f} | {ratios} | {rate:.2f} | {one.p99:.1f} |")


async def storm(bench: Bench) -> None:
    """Send as many alerts of one workload, then of as many workloads, and look for each."""
    many = bench.size.storm
    async with store.connect(bench.valkey.url) as redis:
        before = await redis.zcard(keys.runs())
        for what, requests in (("one key", repeat(webhook(STORM))), ("as many", bench.new())):
            answers = await load.fire(
                bench.ingest.port, islice(requests, many), connections=CONNECTIONS
            )
            took, p99 = answers.seconds, answers.wait(0.99)
            refused = len(answers.refused)
            print(
                f"| {many} alerts, {what} | {took:.1f} s | p99 {p99:.0f} ms | {refused} refused |"
            )
        runs = await redis.zcard(keys.runs()) - before
        counted = await _counted(redis)
    print(f"| found in the store | {runs} runs of {many + 1} | {counted} of {many} counted | |")


async def _counted(redis: Redis) -> int:
    """Return how often the workload of the storm was delivered."""
    incident = f"workload|prod-eu-1|payments|{STORM}"
    return int(await redis.hget(keys.incident(incident), "count") or 0)


async def growth(bench: Bench) -> None:
    """Fill a fresh receiver, and measure memory and the cost of a new run before and after."""
    receiver, size = bench.receiver(), bench.size
    few = await _new_runs(bench, receiver)
    early = receiver.resident
    for done in range(0, size.alerts, 100):
        await load.fire(receiver.port, iter([bench.batch(100)]), 1)
        if done == size.alerts // 5:
            early = receiver.resident
    grown = receiver.resident - early
    many = await _new_runs(bench, receiver)
    print(f"| memory after {size.alerts // 5} alerts | {early:.0f} MiB |")
    print(f"| growth until {size.alerts} | {grown:+.1f} MiB |")
    print(f"| cost of a new run with {size.alerts} more open runs | {many / few:.2f} times |")


async def _new_runs(bench: Bench, receiver: Server) -> float:
    rounds = [
        (await cost(receiver, list(islice(bench.new(), bench.size.requests)), CONNECTIONS)).cpu
        for _ in range(bench.size.rounds)
    ]
    return median(rounds)


def main(size: Size) -> None:
    with tempfile.TemporaryDirectory() as data, ExitStack() as stack:
        bench = Bench(size, stack, Path(data))
        bench.start()  # once, so that all code is compiled by now
        starts = median(bench.receiver().seconds_to_start for _ in range(STARTS))
        print(f"| start of `tocsin-ingest --role receiver` | {starts:.1f} s |")
        print(f"| its memory, idle | {bench.ingest.resident:.0f} MiB |")
        asyncio.run(growth(bench))
        for connections in (1, CONNECTIONS):
            show(connections, asyncio.run(compare(bench, connections)))
        print()
        asyncio.run(storm(bench))


if __name__ == "__main__":
    main(QUICK if "--quick" in sys.argv else Size())
