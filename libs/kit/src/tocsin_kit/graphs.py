"""Run a LangGraph subgraph so that a killed worker resumes after its last finished node."""

import hashlib
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import StateGraph
from langgraph.types import Command
from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import leases
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_kit.checkpoints import RedisSaver, lease_of

STEP_LIMIT = 25
KEPT_SECONDS = 14 * 86_400

S = TypeVar("S")


def saver(client: Redis, *types: type) -> RedisSaver:
    """Return the checkpoints of every service, fenced by the lease of whoever writes them.

    `types` are what the states hold beside the contracts.
    """
    serde = strict_serializer(*types)
    return RedisSaver(client, ttl_seconds=KEPT_SECONDS, lease_key=lease_of, serde=serde)


class Subgraph(Generic[S]):
    """One service's graph with its checkpoints. Nodes may run twice: what they do must allow it.

    A checkpoint that is missing, or was written by a graph of another shape, restarts the graph
    from the input: it must hold all that the run's record knows.
    """

    def __init__(
        self,
        service: str,
        graph: "StateGraph[Any, Any, Any, Any]",
        saver: BaseCheckpointSaver[Any],
        step_limit: int = STEP_LIMIT,
    ) -> None:
        self._service = service
        self._saver = saver
        self._graph = graph.compile(checkpointer=saver)
        self._limit = step_limit
        shape = repr((sorted(graph.nodes), sorted(map(str, graph.edges))))
        self._shape = hashlib.sha256(shape.encode()).hexdigest()[:12]

    async def run(self, run_id: RunId, attempt: str, start: S) -> S:
        """Run to the end or to an interrupt, from where an earlier worker stopped."""
        config = self._config(run_id, attempt)
        found = await self._graph.aget_state(config)
        if found.created_at is None:
            return await self._invoke(start, config)
        if (found.metadata or {}).get("shape") != self._shape:
            await self._saver.adelete_thread(config["configurable"]["thread_id"])
            return await self._invoke(start, config)
        if found.tasks and not found.interrupts:  # `next` is empty once all tasks have written
            return await self._invoke(None, config)
        return cast("S", found.values)

    async def resume(self, run_id: RunId, attempt: str, answer: Any, start: S) -> S:
        """Answer the interrupt and run on; `start` holds the answer too, if no checkpoint does."""
        config = self._config(run_id, attempt)
        found = await self._graph.aget_state(config)
        if found.interrupts and (found.metadata or {}).get("shape") == self._shape:
            return await self._invoke(Command(resume=answer), config)
        return await self.run(run_id, attempt, start)

    async def _invoke(self, given: Any, config: RunnableConfig) -> S:
        values: Mapping[str, Any] = await self._graph.ainvoke(given, config, durability="sync")
        return cast("S", values)

    def _config(self, run_id: RunId, attempt: str) -> RunnableConfig:
        lease = leases.current()
        return {
            "recursion_limit": self._limit,
            "metadata": {"shape": self._shape},
            "configurable": {
                "thread_id": f"{run_id}:{self._service}:{attempt}",
                **({"fence": lease.token} if lease else {}),
            },
        }
