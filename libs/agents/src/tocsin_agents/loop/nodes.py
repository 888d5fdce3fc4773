"""The steps of the loop: ask the model, let people decide, make what was asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from langgraph.types import interrupt

from tocsin_agents.callbacks import first, recovered
from tocsin_agents.loop.acting import Acting
from tocsin_agents.loop.affording import Affording
from tocsin_agents.loop.asking import Asking, Said
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.finishing import finish_text
from tocsin_agents.loop.invocation import current
from tocsin_agents.loop.offering import SUBMIT, tools_of
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.prompting import Prompting, size
from tocsin_agents.loop.state import LoopState, unanswered
from tocsin_agents.loop.turn import Turn
from tocsin_agents.loop.watching import Stop
from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_agents.models.port import Answer, ModelRefusedError
from tocsin_agents.tools.port import Tool
from tocsin_agents.transfer import Team
from tocsin_contracts import BudgetScope, Exhausted, Extension, Measure
from tocsin_kit.errors import TocsinError
from tocsin_kit.untrusted import line


@dataclass(frozen=True, slots=True)
class Nodes:
    """The steps, for a team on an engine. Each may run twice; a model asked twice is paid twice."""

    team: Team
    engine: Engine

    async def think(self, state: LoopState) -> LoopState:
        """Ask the model of the agent whose turn it is, unless a limit or a person says no."""
        turn = Turn(state, self.team, current())
        try:
            await self._think(turn)
        except TocsinError as error:
            await _recover(turn, error)
        return await turn.changed()

    async def gate(self, state: LoopState) -> LoopState:
        """Pause and ask for more where the run nears its limit; nothing happens before that."""
        over = self.engine.meter.soft(state["spent"], state["extended"])
        goes_on = any(call.name != SUBMIT for call in unanswered(state["messages"]))
        if over is None or state["closing"] or not goes_on:
            return {}
        answer = Extension.model_validate(interrupt(over))
        if answer.granted:
            return {"extended": state["extended"] + answer.amounts}
        return {"closing": over, "nudged": False}

    async def act(self, state: LoopState) -> LoopState:
        """Answer every call of the newest answer."""
        turn = Turn(state, self.team, current())
        turn.set["must_submit"] = False
        tools = await self._tools(turn)
        await Acting(self.team, self.engine).act(turn, tools)
        if turn.invocation.cancel.requested and not turn.over:
            _drop(turn)
        return await turn.changed()

    async def _think(self, turn: Turn) -> None:
        if turn.invocation.cancel.requested:
            _drop(turn)
            return
        meter, extended = self.engine.meter, turn.was["extended"]
        accounts = await meter.accounts(turn.spent, extended, turn.invocation.source)
        if over := meter.hard(accounts):
            turn.end(Ending.LIMITED, _last_words(turn), str(over), over)
            return
        if not turn.was["entered"] and await _entered(turn):
            return
        tools = await self._tools(turn)
        if not turn.closing and (tools or self.team.reachable(turn.agent.name)):
            turn.set["closing"] = meter.last(turn.spent, extended)
        question = await Prompting(self.team, self.engine).question(turn, tools)
        if (needed := size(question)) > (most := self.engine.limits.call.tokens):
            over = _over(Measure.TOKENS, BudgetScope.CALL, needed, most)
            turn.end(Ending.LIMITED, _last_words(turn), str(over), over)
            return
        refusal = await Affording(self.engine).refusal(turn.agent.model, question, accounts)
        if refusal:
            turn.end(Ending.LIMITED, _last_words(turn), str(refusal), refusal.over)
            return
        said = await Asking(self.engine).ask(turn, question)
        await self._take(turn, said, allowed=bool(question.tools))

    async def _take(self, turn: Turn, said: Said, *, allowed: bool) -> None:
        """Go on with what the model said; calls without a tool on offer are not taken."""
        name = turn.agent.name
        if said.answer is None:
            if said.partial:
                turn.say(Message(role=Role.ASSISTANT, text=said.partial, author=name))
            self._stopped(turn, said)
            return
        answer = said.answer
        calls = _distinct(answer, turn) if allowed else ()
        turn.say(Message(role=Role.ASSISTANT, text=answer.text, calls=calls, author=name))
        most = self.engine.limits.call.money
        cost = answer.usage.cost
        if most is not None and cost is not None and cost > most:
            turn.set["closing"] = _over(Measure.MONEY, BudgetScope.CALL, cost, most)
        if not calls and turn.agent.output_schema is None:
            await finish_text(turn, answer.text, cut_off=answer.cut_off)

    async def _tools(self, turn: Turn) -> Mapping[str, Tool]:
        seconds = self.engine.limits.call.tool_seconds
        return await tools_of(turn.agent, turn.invocation, self.engine.outputs, seconds)

    def _stopped(self, turn: Turn, said: Said) -> None:
        if said.stopped is Stop.CANCELLED:
            _drop(turn, said.partial)
            return
        limit = self.engine.meter.of_run(turn.was["extended"])
        over = _over(Measure.SECONDS, BudgetScope.RUN, turn.spent.seconds, limit.seconds or 0)
        turn.end(Ending.LIMITED, said.partial or _last_words(turn), str(over), over)


async def _entered(turn: Turn) -> bool:
    """Begin an agent's work; return whether a hook has done it already."""
    turn.set["entered"] = True
    text = await first(turn.agent.callbacks.before_agent, turn.step)
    if text is None:
        return False
    turn.say(Message(role=Role.ASSISTANT, text=text, author=turn.agent.name))
    await finish_text(turn, text)
    return True


async def _recover(turn: Turn, error: TocsinError) -> None:
    try:
        text = await recovered(turn.agent.callbacks.agent_error, turn.step, error=error)
        await finish_text(turn, text)
    except ModelRefusedError as left:
        turn.end(Ending.REFUSED, _last_words(turn), str(left))


def _drop(turn: Turn, text: str = "") -> None:
    by = line(turn.invocation.cancel.by, 80) or "somebody"
    why = f"cancelled by {by}"
    said = f"({why}: the plan above is dropped; do not go on with it unless you are asked to.)"
    turn.say(Message(role=Role.USER, text=said))
    turn.end(Ending.CANCELLED, text or _last_words(turn), why)


def _last_words(turn: Turn) -> str:
    """Return what the agent itself said last in this run."""
    for message in reversed(turn.was["messages"][turn.was["request"] :]):
        if message.role is Role.ASSISTANT and message.text and message.author == turn.agent.name:
            return message.text
    return ""


def _distinct(answer: Answer, turn: Turn) -> tuple[ToolCall, ...]:
    """Return the calls with ids that no other call has; some models count anew in each answer."""
    taken = {call.id for message in turn.was["messages"] for call in message.calls}
    calls = []
    for number, call in enumerate(answer.calls):
        id = call.id
        while not id or id in taken:
            id = f"{id or 'call'}-{len(turn.was['messages'])}-{number}"
        taken.add(id)
        calls.append(call.model_copy(update={"id": id}))
    return tuple(calls)


def _over(
    measure: Measure, scope: BudgetScope, used: float | Decimal, limit: float | Decimal
) -> Exhausted:
    return Exhausted(
        measure=measure, scope=scope, used=Decimal(str(used)), limit=Decimal(str(limit))
    )
