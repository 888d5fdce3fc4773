"""What becomes of the calls of one answer: the result, a handover, or tools within their limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import BaseModel

from tocsin_agents.callbacks import first
from tocsin_agents.limits.budgets import Limit
from tocsin_agents.loop import events
from tocsin_agents.loop.calling import Calling, Made, identity, refusal, repeats
from tocsin_agents.loop.elsewhere import asking, target, unasked
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.finishing import finish_object, validated
from tocsin_agents.loop.offering import SUBMIT
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.quoting import own
from tocsin_agents.loop.state import unanswered
from tocsin_agents.loop.turn import Turn
from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_agents.tools.port import Status, Tool, ToolResult
from tocsin_agents.transfer import TRANSFER, Team
from tocsin_contracts import BudgetScope, Exhausted, Measure
from tocsin_kit.spending import Spending

NUDGE = "Give your result now: call `submit` with it. A text is not read."


@dataclass(frozen=True, slots=True)
class Acting:
    """Answers every call of the newest answer, in the order of the calls."""

    team: Team
    engine: Engine

    async def act(self, turn: Turn, tools: Mapping[str, Tool]) -> None:
        """Make what may be made; a result that is wanted and not given is asked for again once."""
        calls = unanswered(turn.was["messages"])
        if not calls:
            _nudge(turn)
            return
        elsewhere = self.team.elsewhere(turn.agent.name, tools)
        asked = {call.id: to for call in calls if (to := target(call)) in elsewhere}
        made = {made.call.id: made for made in await self._own(turn, calls, asked)}
        rest = [call for call in calls if call.id not in made]
        if turn.over:
            why = "the run ends with the result in this answer"
            made |= {call.id: refusal(call, why) for call in rest}
        else:
            made |= {done.call.id: done for done in await self._tools(turn, tools, rest, asked)}
        for call in calls:
            turn.say(made[call.id].message)
        if "agent" in turn.set:
            turn.set["since"] = len(turn.was["messages"]) + len(turn.said)
        if _withholds(turn, calls):
            _nudge(turn)

    async def _own(
        self, turn: Turn, calls: Sequence[ToolCall], asked: Mapping[str, str]
    ) -> list[Made]:
        """Answer what is no tool but the loop's own: the result, and the first handover."""
        made: list[Made] = []
        schema = turn.agent.output_schema
        given = next((call for call in calls if call.name == SUBMIT), None)
        if schema and given:
            made.append(await _submitted(turn, given, schema))
        if not turn.over:
            handovers = [call for call in calls if call.name == TRANSFER and call.id not in asked]
            made += [await self._handed_over(turn, call) for call in handovers]
        return made

    async def _handed_over(self, turn: Turn, call: ToolCall) -> Made:
        to = target(call)
        names = [other.name for other in self.team.reachable(turn.agent.name)]
        if to not in names:
            return refusal(
                call, f"cannot hand over to {to!r}; there are: {', '.join(names) or '-'}"
            )
        if turn.was["hops"] >= self.engine.limits.transfers:
            return refusal(call, "it was handed over often enough; answer yourself")
        if turn.closing or "agent" in turn.set:
            return refusal(call, "it can be handed over once only, and not at the end")
        turn.set["agent"], turn.set["entered"] = to, False
        turn.set["hops"] = turn.was["hops"] + 1
        await turn.invocation.hear(events.Transferred(agent=turn.agent.name, to=to))
        result = ToolResult(status=Status.OK, message=f"{to} goes on from here")
        return Made(call, own(call, result), used=True)

    async def _tools(
        self,
        turn: Turn,
        tools: Mapping[str, Tool],
        calls: Sequence[ToolCall],
        asked: Mapping[str, str],
    ) -> list[Made]:
        """Use tools; who is elsewhere is `asked`, by the id of the call, through one of them."""
        refused = self._refused(turn, calls)
        left = [call for call in calls if call.id not in refused]
        refused |= unasked(turn, left, asked, self.engine)
        begun = self.engine.clock()
        wanted = [asking(call, asked) for call in calls if call.id not in refused]
        made = await Calling(self.engine, asked).make(turn, tools, wanted, self._seconds(turn))
        seconds = max(0.0, self.engine.clock() - begun)
        spent = Spending(tool_calls=sum(done.used for done in made), seconds=seconds)
        turn.pay(spent)
        await self.engine.meter.count(turn.invocation.source, spent)
        self._close(turn, calls)
        return [*made, *refused.values()]

    def _refused(self, turn: Turn, calls: Sequence[ToolCall]) -> dict[str, Made]:
        """Return the calls that no limit leaves room for, each with a reason to act on."""
        most, limit = self.engine.limits.call.tool_calls, self._limit(turn).tool_calls
        left = most if limit is None else max(0, min(most, limit - turn.spent.tool_calls))
        repeated = self._repeated(turn, calls)
        refused = {}
        for place, call in enumerate(calls):
            if turn.closing:
                refused[call.id] = refusal(call, f"only an answer is wanted now: {turn.closing}")
            elif call.id in repeated:
                why = "this very call was made before; its answer stands above, so do another thing"
                refused[call.id] = refusal(call, why)
            elif place >= left:
                refused[call.id] = refusal(call, f"no more than {left} calls are left here")
        return refused

    def _repeated(self, turn: Turn, calls: Sequence[ToolCall]) -> set[str]:
        before = turn.was["messages"][turn.was["request"] :]
        counted = repeats([message for message in before if not _ends_with(message, calls)])
        found = set()
        for call in calls:
            counted[identity(call)] += 1
            if counted[identity(call)] > self.engine.limits.same_call:
                found.add(call.id)
        return found

    def _close(self, turn: Turn, calls: Sequence[ToolCall]) -> None:
        """Ask for a last answer where the model only repeats itself."""
        most = Decimal(self.engine.limits.same_call)
        if calls and not turn.closing and len(self._repeated(turn, calls)) == len(calls):
            turn.set["closing"] = Exhausted(
                measure=Measure.SAME_CALL, scope=BudgetScope.RUN, used=most, limit=most
            )

    def _seconds(self, turn: Turn) -> float:
        most, limit = self.engine.limits.call.tool_seconds, self._limit(turn).seconds
        return most if limit is None else max(0.0, min(most, limit - turn.spent.seconds))

    def _limit(self, turn: Turn) -> Limit:
        return self.engine.meter.of_run(turn.was["extended"])


async def _submitted(turn: Turn, call: ToolCall, schema: type[BaseModel]) -> Made:
    found = validated(schema, call.arguments)
    wrong = found if isinstance(found, str) else await _objection(turn, found)
    if not isinstance(found, str) and wrong is None:
        await finish_object(turn, schema, found)
        return Made(call, own(call, ToolResult(status=Status.OK, message="taken")), used=True)
    if turn.was["repaired"]:
        turn.end(Ending.INVALID, why=wrong or "")
    turn.set["repaired"] = turn.set["must_submit"] = True
    again = f"the result does not fit; submit it again, whole and right: {wrong}"
    return Made(call, own(call, ToolResult(status=Status.ERROR, error=again)), used=True)


async def _objection(turn: Turn, found: BaseModel) -> str | None:
    return await first(turn.agent.callbacks.check_result, turn.step, found)


def _withholds(turn: Turn, calls: Sequence[ToolCall]) -> bool:
    """Whether it asks for tools where only its result is wanted."""
    wanted = turn.was["closing"] and turn.agent.output_schema
    return bool(wanted) and not turn.over and SUBMIT not in {call.name for call in calls}


def _nudge(turn: Turn) -> None:
    if turn.was["nudged"]:
        turn.end(Ending.INVALID, why="it gave no result where one was to be submitted")
        return
    turn.say(Message(role=Role.USER, text=NUDGE))
    turn.set["nudged"] = turn.set["must_submit"] = True


def _ends_with(message: Message, calls: Sequence[ToolCall]) -> bool:
    return bool({call.id for call in message.calls} & {call.id for call in calls})
