"""Put an agent to work on one attempt, and say what its work comes to."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.events import Listener
from tocsin_agents.loop.invocation import Cancel, Invocation
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.running import Loop, Ran, Work
from tocsin_agents.loop.watching import StoppedError, watching
from tocsin_agents.models.port import ModelAwayError
from tocsin_agents.tools.port import Identity, ToolContext
from tocsin_cluster.context import bare, instructions, render
from tocsin_contracts import BudgetExhausted, Extension, ModelUse
from tocsin_kit import logging
from tocsin_kit.untrusted import line
from tocsin_rca.investigation import reading, telling
from tocsin_rca.investigation.agent import NAME, investigator
from tocsin_rca.investigation.broadcasting import Listening, only_logged
from tocsin_rca.investigation.ending import seen_too
from tocsin_rca.investigation.gathering import OBJECTS, PREFIX, SHOWN
from tocsin_rca.investigation.judging import judged
from tocsin_rca.investigation.known import Answer, Known
from tocsin_rca.investigation.looking import looked_up
from tocsin_rca.investigation.scenes import Scene, Scenes
from tocsin_rca.investigation.submission import Submission

PATIENCE = timedelta(minutes=10)
"""How long a model may be away before the attempt ends without it."""

A_DAY = 86_400.0
"""Longer than anything takes that is watched only for a wish to stop."""

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
        engine: Engine,
        scenes: Scenes,
        saver: BaseCheckpointSaver[Any] | None = None,
        listening: Listening = only_logged,
    ) -> None:
        self._engine = engine
        self._scenes = scenes
        self._saver = saver
        self._listening = listening

    async def investigate(
        self, known: Known, cancel: Cancel, asked: Asked | None = None
    ) -> Answer | BudgetExhausted | None:
        """Return what the attempt comes to, or that it waits; None if somebody stopped it.

        Raises TransientError where the work can go on later.
        """
        try:
            async with watching(A_DAY, cancel):
                scene = await self._scenes.of(known)
            await scene.minutes.began(scene)
            told = await self._told(known, scene, cancel, asked)
        except StoppedError:
            return None
        await scene.minutes.came_to(told)
        return told

    async def _told(
        self, known: Known, scene: Scene, cancel: Cancel, asked: Asked | None
    ) -> Answer | BudgetExhausted | None:
        try:
            async with self._listening(known.run_id) as hear:
                ran = await self._ran(known, scene, cancel, asked, hear)
        except ModelAwayError as error:
            if scene.world.clock.now() - known.since < PATIENCE:
                raise
            log.warning("rca.model_away", error=str(error))
            return _told(seen_too(known, (), "The model was away."), None, scene)
        async with watching(A_DAY, cancel):
            return await _answer(known, ran, scene)

    async def _ran(
        self, known: Known, scene: Scene, cancel: Cancel, asked: Asked | None, hear: Listener
    ) -> Ran:
        loop, work = self._loop(known, scene), self._work(known, scene)
        invocation = Invocation(
            tools=ToolContext(Identity("rca"), known.run_id, scene.clusters),
            source=known.alert.source,
            scope=known.run_id,
            cancel=cancel,
            hear=hear,
        )
        ran = await loop.run(work, invocation)
        if asked and ran.paused and reading.is_of(asked.pause, ran):
            await scene.minutes.granted(asked.extension, ran.spent.model_calls)
            ran = await loop.resume(work, asked.extension, invocation)
        return ran

    def _loop(self, known: Known, scene: Scene) -> Loop:
        rejected = [one.cause for one in known.rejections]
        now = scene.world.clock.now
        agent = investigator(scene.model, scene.tools, rejected, now, scene.sub_agents)
        ledger = scene.minutes.kept(self._engine.ledger)
        return Loop(agent, replace(self._engine, ledger=ledger), self._saver)

    def _work(self, known: Known, scene: Scene) -> Work:
        call = self._engine.limits.call
        room = min(telling.MOST_CHARACTERS, call.tokens)
        about = telling.Clusters(
            render(bare(scene.clusters), scene.now), instructions(scene.clusters)
        )
        told = telling.told(known, about, room, self._engine.nonce)
        values = {SHOWN: list(told.shown), OBJECTS: sorted(map(str, known.objects))}
        attempt = f"{known.attempt}.{NAME}"
        return Work(run_id=known.run_id, attempt=attempt, request=told.text, values=values)


async def _answer(known: Known, ran: Ran, scene: Scene) -> Answer | BudgetExhausted | None:
    used, outcome = reading.used(ran), ran.outcome
    if outcome is None:
        return reading.waiting(known, ran)
    if outcome.ending is Ending.CANCELLED:
        return None
    gathered = reading.gathered(ran)
    if outcome.data is None:
        why = f"The model came to no result ({outcome.ending.value}): {line(outcome.why, 500)}"
        return _told(seen_too(known, gathered, why), used, scene)
    result = Submission.model_validate(outcome.data)
    every = (*known.evidence, *gathered)
    seen = await looked_up(
        result.change,
        known.alert,
        scene.world,
        gathered=gathered,
        cited=[one for one in every if one.id in result.cited],
        id=f"{PREFIX}{len(gathered) + 1}",
    )
    return _told(judged(known, result, seen), used, scene)


def _told(answer: Answer, used: ModelUse | None, scene: Scene) -> Answer:
    return answer.model_copy(update={"model_use": used, "at": scene.world.clock.now()})
