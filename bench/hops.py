"""What a hop costs: four services that do nothing, against the same over a bare client of NATS.

Run it with `python bench/hops.py`. Both store each event on JetStream, read it with durable pull
consumers, and acknowledge it after the next one is stored. Ours also keeps the run in the store:
begin and commit, which make a second delivery harmless. The aim is twice the processor time of the
bare client. The servers are processes of their own and are not counted.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median

import nats
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import StreamConfig

from tocsin_contracts import ApprovalRequested, Event, HypothesisFormed, IncidentOpened, PlanDrafted
from tocsin_kit import logging, store
from tocsin_kit.bus import Bus
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.ensure import ensure
from tocsin_kit.moves import ANY
from tocsin_kit.runs import RunStore
from tocsin_testing import build
from tocsin_testing.harness import settings

ROUNDS, WARM_UP, RUNS = 5, 1, 60
HOPS: tuple[tuple[str, type[Event], Event | None], ...] = (
    ("rca", IncidentOpened, build.hypothesis_formed()),
    ("validation", HypothesisFormed, build.plan_drafted()),
    ("action", PlanDrafted, build.approval_requested()),
    ("notifier", ApprovalRequested, None),
)
FIRST: Event = build.incident_opened()
WORKERS = 2


@dataclass
class Arrivals:
    """Counts the runs that came through, and says when all of a round did."""

    wanted: int = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, wanted: int) -> None:
        self.wanted = wanted
        self.done.clear()

    def arrived(self) -> None:
        self.wanted -= 1
        if self.wanted == 0:
            self.done.set()


async def ours(
    stack: AsyncExitStack, urls: tuple[str, str], arrivals: Arrivals, *, kept: bool
) -> Callable[[str], object]:
    """Start four services in this process; `kept` says whether they keep runs, or only watch."""
    buses = []
    for service, event, answer in HOPS:
        chosen = settings(service, nats_url=urls[0], redis_url=urls[1], concurrency=WORKERS)
        redis = store.connect(urls[1])
        stack.push_async_callback(redis.aclose)
        bus = Bus(chosen, RunStore(redis))

        async def handle(event: Event, answer=answer) -> Event | None:
            if answer:
                return answer.model_copy(update={"run_id": event.run_id})
            arrivals.arrived()
            return None

        async def watch(event: Event, answer=answer, bus=bus, service=service) -> None:
            told = await handle(event, answer)
            if told:
                await bus.publish(told.caused_by(event.id, service))

        bus.on(event, handle, ANY) if kept else bus.watch(event, watch)
        buses.append(bus)
    for bus in buses:
        await bus.start()
        stack.push_async_callback(bus.close)
    return lambda run_id: buses[0].publish(
        FIRST.model_copy(update={"run_id": run_id, "id": f"first-{run_id}"})
    )


async def bare(stack: AsyncExitStack, url: str, arrivals: Arrivals) -> Callable[[str], object]:
    """Start the same four hops over the client itself, with the same bytes."""
    bodies = [one.model_dump_json().encode() for _, _, one in HOPS if one]
    tasks = []
    for place in range(len(HOPS)):
        client = await nats.connect(url)
        stack.push_async_callback(client.close)
        js = client.jetstream()
        for _ in range(WORKERS):
            sub = await js.pull_subscribe(f"bare.{place}.*", durable=f"bare-{place}", stream="BARE")
            body = bodies[place] if place < len(bodies) else b""
            tasks.append(asyncio.create_task(hop(js, sub, place, body, arrivals)))
    stack.push_async_callback(ended, tasks)
    first = FIRST.model_dump_json().encode()

    async def publish(run_id: str) -> None:
        await js.publish(f"bare.0.{run_id}", first, headers={"Nats-Msg-Id": f"0-{run_id}"})

    return publish


async def ended(tasks: list["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def hop(
    js: JetStreamContext,
    sub: JetStreamContext.PullSubscription,
    place: int,
    body: bytes,
    arrivals: Arrivals,
) -> None:
    while True:
        try:
            (message,) = await sub.fetch(1, timeout=5)
        except NatsTimeoutError:
            continue
        run_id = message.subject.rpartition(".")[2]
        if body:
            named = {"Nats-Msg-Id": f"{place + 1}-{run_id}"}
            await js.publish(f"bare.{place + 1}.{run_id}", body, headers=named)
        else:
            arrivals.arrived()
        await message.ack()


async def main() -> None:
    logging.configure(settings("bench", log_level="ERROR"))
    numbers, arrivals = count(), Arrivals()
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bus = stack.enter_context(NatsServer(data / "nats"))
        kept = stack.enter_context(ValkeyServer(data / "valkey"))
        other = stack.enter_context(NatsServer(data / "other"))
        for server in (bus, other):
            await ensure(server.url, ack_wait=30)
        client = await nats.connect(bus.url)
        await client.jetstream().add_stream(StreamConfig(name="BARE", subjects=["bare.>"]))
        await client.close()
        ways = {
            "bare nats-py": await bare(stack, bus.url, arrivals),
            "bus, no store": await ours(stack, (other.url, kept.url), arrivals, kept=False),
            "bus and store": await ours(stack, (bus.url, kept.url), arrivals, kept=True),
        }
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for round_ in range(WARM_UP + ROUNDS):
            for name, publish in ways.items():
                arrivals.begin(RUNS)
                cpu, wall = time.process_time(), time.perf_counter()
                for _ in range(RUNS):
                    await publish(f"run{next(numbers)}")
                async with asyncio.timeout(120):
                    await arrivals.done.wait()
                if round_ >= WARM_UP:
                    spent = (time.process_time() - cpu, time.perf_counter() - wall)
                    taken[name].append((spent[0] / RUNS, spent[1] / RUNS))
    shown(taken)


def shown(taken: dict[str, list[tuple[float, float]]]) -> None:
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    floor = median(cpu for cpu, _ in taken["bare nats-py"])
    print(f"{'':14} {'CPU ms a run':>13} {'÷ bare':>7} {'wall ms':>8}")
    for name, rounds in taken.items():
        cpu, wall = median(c for c, _ in rounds), median(w for _, w in rounds)
        print(f"{name:14} {1000 * cpu:13.2f} {cpu / floor:7.2f} {1000 * wall:8.2f}")


if __name__ == "__main__":
    asyncio.run(main())
