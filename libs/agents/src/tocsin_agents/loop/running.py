"""Run a team of agents to an outcome, or to where people have to be asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_agents.agent import Agent, Request
from tocsin_agents.instructions.segments import SegmentDigest
from tocsin_agents.loop import graph
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.invocation import Invocation, entered
from tocsin_agents.loop.nodes import Nodes
from tocsin_agents.loop.outcome import Outcome
from tocsin_agents.loop.state import TYPES, LoopState, start
from tocsin_agents.messages import Message
from tocsin_agents.state import lasting
from tocsin_agents.transfer import Team
from tocsin_contracts import Exhausted, Extension, RunId
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_kit.graphs import Subgraph
from tocsin_kit.spending import Spending

STEPS = 1000
"""Of the graph: far more than any limits allow, which end a run themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What an agent is asked, after what was said before, and what it knows.

    `attempt` tells two works of one run apart. The same work that is run again goes on from its
    last step, or says once more how it ended.
    """

    run_id: RunId
    attempt: str
    request: Request
    history: Sequence[Message] = ()
    values: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """How far a work has come: it has an outcome, or has paused and asks for more of something.

    `changes` are those of the state that may leave the invocation. `prompts` says which texts each
    agent was told.
    """

    outcome: Outcome | None
    paused: Exhausted | None
    messages: Sequence[Message]
    changes: Mapping[str, Any]
    spent: Spending
    prompts: Mapping[str, Sequence[SegmentDigest]]


class Loop:
    """One team on one engine. Without a saver a work cannot outlive this object.

    A saver of one's own needs a serializer that knows `state.TYPES`.
    """

    def __init__(
        self,
        agent: Agent,
        engine: Engine,
        saver: BaseCheckpointSaver[Any] | None = None,
        service: str = "rca",
    ) -> None:
        self._agent = agent
        self._engine = engine
        steps = graph.build(Nodes(Team(agent), engine))
        kept = saver or InMemorySaver(serde=strict_serializer(*TYPES))
        self._graph: Subgraph[LoopState] = Subgraph(service, steps, kept, STEPS)

    async def run(self, work: Work, invocation: Invocation) -> Ran:
        """Go on until there is an outcome or people are asked; TransientError: try again later."""
        with entered(invocation):
            found = await self._graph.run(work.run_id, work.attempt, self._start(work))
        return self._ran(found)

    async def resume(self, work: Work, answer: Extension, invocation: Invocation) -> Ran:
        """Go on with the answer of a person, or of a clock that has waited long enough."""
        with entered(invocation):
            begin = self._start(work)
            if answer.granted:
                begin["extended"] = answer.amounts
            found = await self._graph.resume(work.run_id, work.attempt, answer, begin)
        return self._ran(found)

    def _start(self, work: Work) -> LoopState:
        request = self._agent.request(work.request)
        return start(self._agent.name, request, work.history, work.values or {})

    def _ran(self, found: LoopState) -> Ran:
        outcome, spent = found["outcome"], found["spent"]
        return Ran(
            outcome=outcome,
            paused=None if outcome else self._engine.meter.soft(spent, found["extended"]),
            messages=tuple(found["messages"]),
            changes=lasting(found["changes"]),
            spent=spent,
            prompts=found["prompts"],
        )
