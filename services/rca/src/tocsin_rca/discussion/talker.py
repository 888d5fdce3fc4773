"""Put a small agent to work on one comment, within what the run may still spend."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from tocsin_agents.agent import Agent
from tocsin_agents.callbacks import Callbacks, Step
from tocsin_agents.limits.budgets import Limit
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.invocation import Invocation
from tocsin_agents.loop.running import Loop, Work
from tocsin_agents.models.port import Model
from tocsin_agents.tools.port import Identity, ToolContext, Toolset
from tocsin_contracts import Evidence, HypothesisFormed, ModelUse, derive_id
from tocsin_kit.untrusted import line
from tocsin_rca.discussion import telling
from tocsin_rca.discussion.reply import Reply, flaws
from tocsin_rca.discussion.talk import Talk
from tocsin_rca.investigation import reading
from tocsin_rca.investigation.broadcasting import Listening, only_logged
from tocsin_rca.investigation.gathering import EVIDENCE, SHOWN, Gathering
from tocsin_rca.investigation.known import Known
from tocsin_rca.investigation.scenes import Scenes

NAME = "commentator"
MOST_CHARACTERS = 30_000


@dataclass(frozen=True, slots=True)
class Said:
    """What a model came to: a reply, or why there is none, with what it looked at and used."""

    reply: Reply | None
    why: str
    gathered: tuple[Evidence, ...]
    used: ModelUse


class Talker:
    """Answers one comment at a time, each in a conversation of its own, with tools that read."""

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

    async def reply(self, talk: Talk) -> Said:
        """Return what the model says; ModelAwayError while it may come back."""
        scene = await self._scenes.of(_known(talk))
        limits = self._engine.limits
        engine = replace(
            self._engine,
            limits=limits.model_copy(update={"run": left(limits.run, talk.used), "soft": None}),
        )
        told = telling.told(talk, min(MOST_CHARACTERS, limits.call.tokens), engine.nonce)
        about = derive_id(talk.remark.delivery, NAME)[:8]
        agent = commentator(scene.model, scene.tools, scene.world.clock.now, f"c{about}.")
        loop = Loop(agent, engine, self._saver)
        values = {SHOWN: list(told.shown)}
        work = Work(run_id=talk.run_id, attempt=f"{about}.{NAME}", request=told.text, values=values)
        async with self._listening(talk.run_id) as hear:
            invocation = Invocation(
                tools=ToolContext(Identity("rca"), talk.run_id, scene.clusters),
                source=talk.alert.source,
                scope=talk.run_id,
                hear=hear,
            )
            ran = await loop.run(work, invocation)
        outcome = ran.outcome
        data = outcome.data if outcome else None
        return Said(
            reply=Reply.model_validate(data) if data is not None else None,
            why=line(outcome.why or outcome.ending.value, 300) if outcome else "",
            gathered=reading.gathered(ran),
            used=reading.used(ran),
        )


def commentator(
    model: Model, tools: Toolset, now: Callable[[], datetime], evidence_prefix: str
) -> Agent:
    """Return the agent; a reply that points at what it never saw goes back to it once."""
    gathering = Gathering(now, evidence_prefix)

    async def check(step: Step, result: BaseModel) -> str | None:
        if not isinstance(result, Reply):
            return "it is no answer to a comment"
        gathered = [one["id"] for one in step.state.get(EVIDENCE, [])]
        return flaws(result, [*step.state.get(SHOWN, []), *gathered])

    return Agent(
        name=NAME,
        description="you answer comments on a pull request.",
        model=model,
        instructions=telling.ROLE,
        tools=(tools,),
        output_schema=Reply,
        callbacks=Callbacks(
            after_tool=(gathering.keep,), after_model=(gathering.name,), check_result=(check,)
        ),
    )


def left(limit: Limit, used: ModelUse) -> Limit:
    """Return what a run may still spend: its answers and its investigation share one limit."""
    spent = {
        "model_calls": used.model_calls,
        "tool_calls": used.tool_calls,
        "tokens": used.tokens,
        "seconds": used.seconds,
        "money": used.cost or 0,
    }
    remaining = {
        name: max(most - spent[name], type(most)(0)) for name, most in limit if most is not None
    }
    return limit.model_copy(update=remaining)


def _known(talk: Talk) -> Known:
    """The run as whoever sets the scene wants to know it."""
    formed = HypothesisFormed(run_id=talk.run_id, alert=talk.alert, hypothesis=talk.hypothesis)
    return Known(formed, talk.hypothesis.attempt, frozenset(), (), talk.since)
