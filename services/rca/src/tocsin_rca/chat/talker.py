"""Put the agent to work on one question, within what one question may spend."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from tocsin_agents.agent import Agent
from tocsin_agents.callbacks import Callbacks, Step
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.following import following
from tocsin_agents.loop.invocation import Invocation
from tocsin_agents.loop.outcome import Ending, Outcome
from tocsin_agents.loop.running import Loop, Ran, Work
from tocsin_agents.messages import ToolCall
from tocsin_agents.models.port import Model
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import ALLOWED, Mode
from tocsin_agents.tools.port import Identity, Status, ToolContext, ToolResult, Toolset
from tocsin_cluster.context import bare, instructions, render
from tocsin_cluster.fleet import Fleet
from tocsin_contracts import ModelUse
from tocsin_contracts.chat import ChatAsked, ChatEnding, ChatTurn
from tocsin_kit.errors import PermanentError
from tocsin_kit.redaction import Redactor
from tocsin_kit.run_view import Run
from tocsin_kit.untrusted import clean, line
from tocsin_rca.chat import telling
from tocsin_rca.chat.confirming import Confirming
from tocsin_rca.chat.ports import Chats, Opening
from tocsin_rca.chat.starting import START, Starting, begun
from tocsin_rca.chat.telling import Handed
from tocsin_rca.chat.turn import Turn
from tocsin_rca.investigation import reading
from tocsin_rca.investigation.broadcasting import Broadcasting
from tocsin_rca.investigation.gathering import Gathering
from tocsin_rca.ports import World

NAME = "assistant"
SOURCE = "chat"
"""Whose day pays for questions."""

STARTED = "run:started"
LONGEST_ANSWER = 16_000
LOOK_SECONDS = 0.5

Models = Callable[[str], Model | None]
"""Returns a model that is set by its name, or the one that is meant where none is named."""

Tools = Callable[[Fleet, Mode, Toolset], Catalogue]
"""Returns the tools of a mode; of all but the given ones only those that read."""

_ENDINGS: Mapping[Ending, ChatEnding] = {
    Ending.ANSWERED: ChatEnding.ANSWERED,
    Ending.LIMITED: ChatEnding.LIMITED,
    Ending.CUT_OFF: ChatEnding.LIMITED,
    Ending.CANCELLED: ChatEnding.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Said:
    """What a question came to."""

    ending: ChatEnding
    words: str
    started: tuple[str, ...] = ()
    used: ModelUse | None = None


@dataclass(frozen=True, slots=True)
class Talker:
    """Answers questions, each in a work of its own that another worker can go on with."""

    engine: Engine
    models: Models
    tools: Tools
    fleet: Callable[[str], Fleet]
    world: World
    chats: Chats
    opening: Opening
    redactor: Redactor
    confirming: Callable[[Chats, Turn, Redactor], Confirming] = Confirming
    saver: BaseCheckpointSaver[Any] | None = None
    look_seconds: float = LOOK_SECONDS

    async def answer(
        self, turn: Turn, earlier: tuple[ChatTurn, ...], run: Run | None, files: tuple[Handed, ...]
    ) -> Said:
        """Return what the agent says; TransientError where the work can go on later.

        PermanentError for a model or a cluster that nobody set.
        """
        asked = turn.asked
        model = self.models(asked.context.model)
        if model is None:
            raise PermanentError(f"no model {line(asked.context.model)!r} is set; leave it out")
        fleet = self.fleet(asked.context.cluster)
        clusters, identity = await fleet.look(), _identity(asked)
        tools = self._tools(turn, fleet)
        about = render(bare(clusters), self.world.clock.now())
        operator = instructions(clusters)
        role = f"{telling.ROLE}\n\nOf the clusters:\n{operator}" if operator else telling.ROLE
        work = Work(
            run_id=asked.run_id,
            attempt=f"{asked.turn}.{NAME}",
            request=telling.told(asked.question, about, run, files, self.engine.nonce),
            history=telling.history(earlier),
        )
        broadcasting = Broadcasting(turn, self.redactor, self.world.clock)
        loop = Loop(self._agent(model, role, tools), self.engine, self.saver)
        async with broadcasting.of(asked.run_id) as hear, self._stoppable(turn):
            invocation = Invocation(
                tools=ToolContext(identity, None, clusters, dry_run=_mode(asked) is Mode.ASK),
                source=SOURCE,
                scope=asked.run_id,
                cancel=turn.cancel,
                hear=hear,
            )
            ran = await loop.run(work, invocation)
        return self._said(ran)

    def _tools(self, turn: Turn, fleet: Fleet) -> Catalogue:
        approver = self.confirming(self.chats, turn, self.redactor)
        own = Starting(self.opening, turn.asked).toolset(approver)
        return self.tools(fleet, _mode(turn.asked), own)

    def _agent(self, model: Model, role: str, tools: Catalogue) -> Agent:
        async def started(step: Step, call: ToolCall, result: ToolResult) -> ToolResult | None:
            if call.name == START and result.status is Status.OK:
                step.state[STARTED] = [*step.state.get(STARTED, []), begun(result.data)]
            return None

        gathering = Gathering(self.world.clock.now)
        return Agent(
            name=NAME,
            description="you answer questions about clusters and runs.",
            model=model,
            instructions=role,
            tools=(tools,),
            callbacks=Callbacks(after_tool=(started,), after_model=(gathering.name,)),
        )

    def _stoppable(self, turn: Turn) -> AbstractAsyncContextManager[None]:
        async def wish() -> str | None:
            session = await self.chats.get(turn.session)
            return session.cancelled_by or None if session else None

        return following(wish, turn.cancel, self.look_seconds)

    def _said(self, ran: Ran) -> Said:
        outcome = ran.outcome or Outcome(ending=Ending.LIMITED, agent=NAME)
        words = clean(self.redactor.text(outcome.text), LONGEST_ANSWER).text
        if outcome.ending is not Ending.ANSWERED and not words:
            words = f"There is no answer ({line(outcome.why or outcome.ending.value, 300)})."
        return Said(
            ending=_ENDINGS.get(outcome.ending, ChatEnding.FAILED),
            words=words,
            started=tuple(dict.fromkeys(ran.changes.get(STARTED, ()))),
            used=reading.used(ran),
        )


def _mode(asked: ChatAsked) -> Mode:
    return Mode(asked.mode.value)


def _identity(asked: ChatAsked) -> Identity:
    """Return who asks; what they may do is what the mode allows, and nothing else."""
    return Identity(asked.by, capabilities=ALLOWED[_mode(asked)])
