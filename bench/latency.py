"""How long after an alert people are asked, without a model: every service a process of its own.

Run it with `python bench/latency.py`. Beside it stands one stored message on the same bus, taken in
turns. The aim is 150 ms for half of the alerts and 500 ms for 99 of 100, on a quiet machine.
Processor time is of each service for one run; it says where the time goes on a busy machine too.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import nats
from nats.js import JetStreamContext

from tocsin_contracts import (
    AlertAccepted,
    ApprovalRequested,
    Event,
    HypothesisFormed,
    IncidentOpened,
    PlanDrafted,
    RunState,
)
from tocsin_contracts.views import DeliveryReceipt
from tocsin_kit.topology import CANARY
from tocsin_testing.pipeline import Pipeline, pipeline

WARM_UP, RUNS, QUICK = 2, 40, 4
STEPS: tuple[type[Event], ...] = (
    AlertAccepted,
    IncidentOpened,
    HypothesisFormed,
    PlanDrafted,
    ApprovalRequested,
)
TICK = os.sysconf("SC_CLK_TCK")
QUIET = {"TOCSIN_ACK_WAIT": "10", "TOCSIN_LEASE_SECONDS": "10", "TOCSIN_REPUBLISH_SECONDS": "2"}


def payload(running: Pipeline, number: int) -> bytes:
    """Return the alert as if it had begun anew."""
    body = json.loads(running.scene.payload.read_bytes())
    begun = datetime.now(UTC) - timedelta(minutes=4) + timedelta(seconds=number)
    body["alerts"] = body["alerts"][:1]
    body["alerts"][0]["startsAt"] = begun.isoformat().replace("+00:00", "Z")
    return json.dumps(body).encode()


def processor_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """Return what each process has used, in user and in system."""
    found = {}
    for name, pid in pids.items():
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        found[name] = (int(stat[11]) + int(stat[12])) / TICK
    return found


async def stored(js: JetStreamContext) -> float:
    began = time.perf_counter()
    await js.publish("tocsin-canary.bench", b"x" * 2048, stream=CANARY)
    return time.perf_counter() - began


async def steps(js: JetStreamContext, run_id: str) -> list[datetime]:
    """Return when the bus stored the first fact of each step of a run."""
    found = []
    for step in STEPS:
        subject = f"tocsin.{step.topic}.{run_id}"
        sub = await js.subscribe(subject, ordered_consumer=True)
        message = await sub.next_msg(timeout=5)
        found.append(message.metadata.timestamp)
        await sub.unsubscribe()
    return found


async def fresh(
    running: Pipeline, number: int, known: Collection[str]
) -> tuple[datetime, DeliveryReceipt]:
    """Send until it is no news of a run that has ended: ingest hears of that a moment later."""
    while True:
        sent = datetime.now(UTC)
        receipt = await running.fire(payload(running, number))
        if receipt.run_id not in known:
            return sent, receipt
        await asyncio.sleep(0.2)


async def measured(running: Pipeline, runs: int) -> dict[str, Any]:
    client = await nats.connect(running.nats_server.url)
    js = client.jetstream(timeout=10)
    whole, floors, gaps, before = [], [], [], {}
    known: set[str] = set()
    for number in range(WARM_UP + runs):
        if number == WARM_UP:
            before = processor_seconds(running.supervisor.pids)
        sent, receipt = await fresh(running, number, known)
        known.add(receipt.run_id)
        await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        times = await steps(js, receipt.run_id)
        floor = await stored(js)
        await running.gateway.cancel(receipt.run_id, "measured")
        await running.until(receipt.run_id, lambda run: run.state.terminal)
        if number >= WARM_UP:
            floors.append(floor)
            whole.append((times[-1] - sent).total_seconds())
            gaps.append([(b - a).total_seconds() for a, b in pairwise((sent, *times))])
    after = processor_seconds(running.supervisor.pids)
    await client.close()
    return {
        "whole": whole,
        "floors": floors,
        "gaps": gaps,
        "cpu": {name: (after[name] - before[name]) / runs for name in before},
    }


def shown(found: dict[str, Any]) -> None:
    whole, floor = found["whole"], median(found["floors"])
    p99 = quantiles(whole, n=100, method="inclusive")[98]
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"one stored message      p50 {1000 * floor:7.1f} ms")
    for name, value in (("best", min(whole)), ("p50", median(whole)), ("p99", p99)):
        print(f"alert to question  {name:>8} {1000 * value:7.1f} ms  ÷ stored {value / floor:6.1f}")
    for place, step in enumerate(STEPS):
        spent = median(gap[place] for gap in found["gaps"])
        print(f"  until {step.__name__:20} {1000 * spent:7.1f} ms")
    for name, seconds in found["cpu"].items():
        print(f"processor, {name:14} {1000 * seconds:7.1f} ms a run")
    print(f"processor, together       {1000 * sum(found['cpu'].values()):7.1f} ms a run")


async def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with pipeline(Path(folder), settings=QUIET) as running:
            shown(await measured(running, runs))


if __name__ == "__main__":
    asyncio.run(main(QUICK if "--quick" in sys.argv else RUNS))
