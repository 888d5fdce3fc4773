"""Let an agent look further: what it is, for whom it works, and what its work comes to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from tocsin_agents.agent import Agent
from tocsin_agents.callbacks import Callbacks, Step
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.invocation import Cancel, Invocation
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.running import Loop, Ran, Work
from tocsin_agents.models.port import Model, ModelAwayError
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.port import Identity, ToolContext
from tocsin_cluster.context import render
from tocsin_cluster.fleet import Fleet, Member
from tocsin_contracts import (
    BudgetExhausted,
    ClusterContext,
    Event,
    Evidence,
    Extension,
    ModelUse,
    PromptPart,
)
from tocsin_kit import logging
from tocsin_kit.errors import TocsinError
from tocsin_kit.untrusted import line
from tocsin_rca.collectors.target import cluster_of
from tocsin_rca.investigation import telling
from tocsin_rca.investigation.checking import flaws
from tocsin_rca.investigation.ending import seen_too
from tocsin_rca.investigation.gathering import (
    EVIDENCE,
    MODELS,
    OBJECTS,
    PREFIX,
    SHOWN,
    Gathering,
)
from tocsin_rca.investigation.judging import judged
from tocsin_rca.investigation.known import Answer, Known
from tocsin_rca.investigation.looking import looked_up
from tocsin_rca.investigation.submission import Submission
from tocsin_rca.ports import World

NAME = "investigator"
ONLY_CLUSTER = "cluster"
"""What the cluster of an alert that names none is called."""

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
        )
        try:
            ran = await loop.run(work, invocation)
            if asked and ran.paused and _is_of(asked.pause, ran):
                ran = await loop.resume(work, asked.extension, invocation)
        except ModelAwayError as error:
            if self._world.clock.now() - known.since < PATIENCE:
                raise
            log.warning("rca.model_away", error=str(error))
            return self._told(seen_too(known, (), "The model was away."), ModelUse())
        return await self._answer(known, ran)

    def _fleet(self, known: Known) -> Fleet:
        name = cluster_of(known.alert)
        try:
            cluster = self._world.clusters.named(name)
        except TocsinError:
            return Fleet((), self._world.clock.now)
        return Fleet([Member(name or ONLY_CLUSTER, cluster)], self._world.clock.now)

    def _loop(self, known: Known, fleet: Fleet) -> Loop:
        gathering = Gathering(self._world.clock.now)
        rejected = [one.cause for one in known.rejections]

        async def check(step: Step, result: BaseModel) -> str | None:
            if not isinstance(result, Submission):
                return "it is no result of an investigation"
            gathered = [one["id"] for one in step.state.get(EVIDENCE, [])]
            return flaws(
                result,
                evidence=[*step.state.get(SHOWN, []), *gathered],
                objects=step.state.get(OBJECTS, []),
                rejected=rejected,
            )

        agent = Agent(
            name=NAME,
            description="you find what causes an alert, and prove it.",
            model=self._model,
            instructions=telling.ROLE,
            tools=(self._tools(fleet),),
            output_schema=Submission,
            callbacks=Callbacks(
                after_tool=(gathering.keep,),
                after_model=(gathering.name,),
                check_result=(check,),
            ),
        )
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
        used, outcome = _used(ran), ran.outcome
        if outcome is None:
            return _waiting(known, ran, used)
        if outcome.ending is Ending.CANCELLED:
            return None
        gathered = _gathered(ran.changes)
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

    def _told(self, answer: Answer, used: ModelUse) -> Answer:
        return answer.model_copy(update={"model_use": used, "at": self._world.clock.now()})


def _is_of(pause: BudgetExhausted, ran: Ran) -> bool:
    """Whether the work still stands where people were asked: every pause follows another call."""
    return pause.model_use is not None and pause.model_use.model_calls == ran.spent.model_calls


def _waiting(known: Known, ran: Ran, used: ModelUse) -> Event | None:
    if ran.paused is None:
        return None
    words = [message.text for message in ran.messages if message.author == NAME and message.text]
    return BudgetExhausted(
        run_id=known.run_id,
        agent=NAME,
        exhausted=ran.paused,
        attempt=known.attempt,
        so_far=line(words[-1], 1000) if words else "",
        model_use=used,
    )


def _gathered(changes: Mapping[str, Any]) -> tuple[Evidence, ...]:
    return tuple(Evidence.model_validate(one) for one in changes.get(EVIDENCE, ()))


def _used(ran: Ran) -> ModelUse:
    spent = ran.spent
    return ModelUse(
        models=tuple(ran.changes.get(MODELS, ())),
        model_calls=spent.model_calls,
        tool_calls=spent.tool_calls,
        tokens=spent.tokens,
        seconds=spent.seconds,
        cost=spent.price,
        prompt=tuple(
            PromptPart(name=part.name, sha256=part.sha256)
            for parts in ran.prompts.values()
            for part in parts
        ),
    )
