"""What durable state costs: one small graph with no saver, one in memory and one in Valkey.

Run it with `python bench/checkpoints.py`. Trust the ratios: they come from one interleaved run.
"""

import asyncio
import operator
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from tocsin_kit.checkpoints import RedisSaver
from tocsin_kit.embedded import ValkeyServer
from tocsin_kit.store import connect

ROUNDS = 150
WARM_UP = 20
EVIDENCE = "x" * 1024
STEPS = ("look", "think", "answer")


class State(TypedDict, total=False):
    evidence: Annotated[list[str], operator.add]


async def step(state: State) -> State:
    return {"evidence": [EVIDENCE]}


def graph(saver: BaseCheckpointSaver[Any] | None) -> Any:
    built = StateGraph(State)
    for name in STEPS:
        built.add_node(name, step)
    for before, after in zip((START, *STEPS), (*STEPS, END), strict=True):
        built.add_edge(before, after)
    return built.compile(checkpointer=saver)


async def measure(graphs: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Median CPU and wall milliseconds of one run of each graph, taken in turns."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in graphs}
    threads = count()
    for round_ in range(WARM_UP + ROUNDS):
        for name, each in graphs.items():
            config = {"configurable": {"thread_id": f"run{next(threads)}:bench:1"}}
            cpu, wall = time.process_time(), time.perf_counter()
            durable = {"durability": "sync"} if each.checkpointer else {}
            await each.ainvoke({"evidence": [EVIDENCE]}, config, **durable)
            if round_ >= WARM_UP:
                spent[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {
        name: (1000 * median(c for c, _ in taken), 1000 * median(w for _, w in taken))
        for name, taken in spent.items()
    }


async def main() -> None:
    with tempfile.TemporaryDirectory() as data, ValkeyServer(Path(data)) as server:
        async with connect(server.url, text=False) as client:
            saver = RedisSaver(client, ttl_seconds=3600, lease_key=None)
            savers = {"none": None, "InMemorySaver": InMemorySaver(), "RedisSaver": saver}
            results = await measure({name: graph(each) for name, each in savers.items()})
            memory = await client.info("memory")
    base_cpu, base_wall = results["none"]
    print(f"{'saver':14} {'CPU ms':>8} {'ratio':>6} {'wall ms':>8} {'ratio':>6}")
    for name, (cpu, wall) in results.items():
        print(f"{name:14} {cpu:8.2f} {cpu / base_cpu:6.2f} {wall:8.2f} {wall / base_wall:6.2f}")
    runs = WARM_UP + ROUNDS
    print(f"Valkey holds {memory['used_memory_dataset'] / runs / 1024:.1f} KB a run.")


if __name__ == "__main__":
    asyncio.run(main())
