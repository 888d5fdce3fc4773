"""The question that a turn puts to its model: what it is told, shown and offered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tocsin_agents.instructions.security import POLICY
from tocsin_agents.instructions.segments import Segment, composed
from tocsin_agents.instructions.writing import written
from tocsin_agents.loop import events
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.offering import SUBMIT, offered, submit
from tocsin_agents.loop.trimming import CHARACTERS_PER_TOKEN, tokens, trimmed
from tocsin_agents.loop.turn import Turn
from tocsin_agents.messages import Message
from tocsin_agents.models.port import OfferedTool, Question
from tocsin_agents.tools.port import Tool
from tocsin_agents.transfer import Team


@dataclass(frozen=True, slots=True)
class Prompting:
    """Puts questions together."""

    team: Team
    engine: Engine

    async def question(self, turn: Turn, tools: Mapping[str, Tool]) -> Question:
        """Return the question, and tell who listens what it is made of."""
        segments = await self._segments(turn)
        wanted = self.offer(turn, tools)
        call = self.engine.limits.call
        system = [segment.message for segment in segments]
        view, request = _view(turn)
        size = sum(map(_tokens, wanted))
        room = call.tokens - call.answer_tokens - size
        fitting = trimmed([*system, *view], room, len(system) + request)
        digests = [segment.digest for segment in segments]
        turn.set["prompts"] = {**turn.was["prompts"], turn.agent.name: digests}
        model = turn.agent.model.name
        told = events.ModelAsked(
            agent=turn.agent.name, model=model, segments=digests, left_out=fitting.left_out
        )
        await turn.invocation.hear(told)
        last = len(wanted) == 1 and wanted[0].name == SUBMIT
        return Question(
            messages=fitting.messages,
            tools=wanted,
            forced=SUBMIT if last else "",
            most_tokens=call.answer_tokens,
        )

    def offer(self, turn: Turn, tools: Mapping[str, Tool]) -> tuple[OfferedTool, ...]:
        """Return what the model may call: only `submit` for whoever has to come to an end."""
        schema = turn.agent.output_schema
        ending = [submit(schema)] if schema else []
        if turn.closing or turn.was["must_submit"]:
            return tuple(ending)
        handing = self.team.offer(turn.agent.name, tools)
        hops_left = turn.was["hops"] < self.engine.limits.transfers
        transfer = [handing] if handing and hops_left else []
        return (*map(offered, tools.values()), *transfer, *ending)

    async def _segments(self, turn: Turn) -> Sequence[Segment]:
        agent, state, mark = turn.agent, turn.state, self.engine.nonce()
        skills = await self.engine.skills.of(agent.name)
        role = Segment("role", f"You are {agent.name}: {agent.description}", stable=True)
        return composed(
            [
                Segment("security", POLICY, stable=True),
                await written("global", self.engine.instructions, state, agent.name, mark),
                *(skill.segment for skill in skills),
                role,
                await written("instructions", agent.instructions, state, agent.name, mark),
            ]
        )


def size(question: Question) -> int:
    """Return about how many tokens a question and its answer take at most."""
    return asked(question) + question.most_tokens


def asked(question: Question) -> int:
    """Return about how many tokens a question takes."""
    return sum(map(tokens, question.messages)) + sum(map(_tokens, question.tools))


def _view(turn: Turn) -> tuple[Sequence[Message], int]:
    """Return what the agent is shown of the conversation, and where in it the request stands."""
    messages, request = turn.was["messages"], turn.was["request"]
    if turn.agent.include_history:
        return messages, request
    return [messages[request], *messages[max(turn.was["since"], request + 1) :]], 0


def _tokens(tool: OfferedTool) -> int:
    return len(tool.model_dump_json()) // CHARACTERS_PER_TOKEN
