"""Put an agent to work on one attempt, and say what its work comes to."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.invocation import Cancel, Invocation
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.running import Loop, Ran, Work
from tocsin_agents.models.port import Model, ModelAwayError
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.port import Identity, ToolContext
from tocsin_cluster.context import render
from tocsin_cluster.fleet import Fleet, Member
from tocsin_contracts import BudgetExhausted, ClusterContext, Event, Extension, ModelUse
from tocsin_kit import logging
from tocsin_kit.errors import TocsinError
from tocsin_kit.untrusted import line
from tocsin_rca.collectors.target import cluster_of
from tocsin_rca.investigation import reading, telling
from tocsin_rca.investigation.agent import NAME, investigator
from tocsin_rca.investigation.ending import seen_too
from tocsin_rca.investigation.gathering import OBJECTS, PREFIX, SHOWN
from tocsin_rca.investigation.judging import judged
from tocsin_rca.investigation.known import Answer, Known
from tocsin_rca.investigation.listening import logged
from tocsin_rca.investigation.looking import looked_up
from tocsin_rca.investigation.submission import Submission
from tocsin_rca.ports import World
from tocsin_rca.tools.arguments import ONLY_CLUSTER

PATIENCE = timedelta(minutes=10)
"""How long a model may be away before the attempt ends without it."""

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """A pause, and what people answered to it."""

    pause: BudgetExhausted
    extension: Extension


class Investigator:
    """Investigates one attempt at a time, each in a conversation of its own.

    Whoever runs the same attempt again goes on after the last finished step.
    """

    def __init__(
        self,
        model: Model,
        engine: Engine,
        world: World,
        tools: Callable[[Fleet], Catalogue],
        saver: BaseCheckpointSaver[Any] | None = None,
    ) -> None:
        self._model = model
        self._engine = engine
        self._world = world
        self._tools = tools
        self._saver = saver

    async def investigate(
        self, known: Known, cancel: Cancel, asked: Asked | None = None
    ) -> Event | None:
        """Return what the attempt comes to, or that it waits; None if somebody stopped it.

        Raises TransientError where the work can go on later.
        """
        fleet = self._fleet(known)
        clusters = await fleet.look()
        loop, work = self._loop(known, fleet), self._work(known, clusters)
        invocation = Invocation(
            tools=ToolContext(Identity("rca"), known.run_id, clusters),
            source=known.alert.source,
            scope=known.run_id,
            cancel=cancel,
            hear=logged,
        )
        try:
            ran = await loop.run(work, invocation)
            if asked and ran.paused and reading.is_of(asked.pause, ran):
                ran = await loop.resume(work, asked.extension, invocation)
        except ModelAwayError as error:
            if self._world.clock.now() - known.since < PATIENCE:
                raise
            log.warning("rca.model_away", error=str(error))
            return self._told(seen_too(known, (), "The model was away."), None)
        return await self._answer(known, ran)

    def _fleet(self, known: Known) -> Fleet:
        name = cluster_of(known.alert)
        try:
            cluster = self._world.clusters.named(name)
        except TocsinError:
            return Fleet((), self._world.clock.now)
        return Fleet([Member(name or ONLY_CLUSTER, cluster)], self._world.clock.now)

    def _loop(self, known: Known, fleet: Fleet) -> Loop:
        rejected = [one.cause for one in known.rejections]
        now = self._world.clock.now
        agent = investigator(self._model, self._tools(fleet), rejected, now)
        return Loop(agent, self._engine, self._saver)

    def _work(self, known: Known, clusters: ClusterContext) -> Work:
        call = self._engine.limits.call
        room = min(telling.MOST_CHARACTERS, call.tokens)
        about = render(clusters, self._world.clock.now())
        told = telling.told(known, about, room, self._engine.nonce)
        values = {SHOWN: list(told.shown), OBJECTS: sorted(map(str, known.objects))}
        attempt = f"{known.attempt}.{NAME}"
        return Work(run_id=known.run_id, attempt=attempt, request=told.text, values=values)

    async def _answer(self, known: Known, ran: Ran) -> Event | None:
        used, outcome = reading.used(ran), ran.outcome
        if outcome is None:
            return reading.waiting(known, ran)
        if outcome.ending is Ending.CANCELLED:
            return None
        gathered = reading.gathered(ran)
        if outcome.data is None:
            why = f"The model came to no result ({outcome.ending.value}): {line(outcome.why, 500)}"
            return self._told(seen_too(known, gathered, why), used)
        result = Submission.model_validate(outcome.data)
        every = (*known.evidence, *gathered)
        seen = await looked_up(
            result.change,
            known.alert,
            self._world,
            gathered=gathered,
            cited=[one for one in every if one.id in result.cited],
            id=f"{PREFIX}{len(gathered) + 1}",
        )
        return self._told(judged(known, result, seen), used)

    def _told(self, answer: Answer, used: ModelUse | None) -> Answer:
        return answer.model_copy(update={"model_use": used, "at": self._world.clock.now()})
