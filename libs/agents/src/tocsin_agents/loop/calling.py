"""The tool calls of one answer: at the same time, each bounded, answered in their order."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tocsin_agents.callbacks import first, recovered, rewritten
from tocsin_agents.loop import events
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.quoting import own
from tocsin_agents.loop.turn import Turn
from tocsin_agents.loop.watching import Stop, StoppedError, watching
from tocsin_agents.messages import Message, ToolCall
from tocsin_agents.tools.port import Status, Tool, ToolContext, ToolResult
from tocsin_kit.errors import TocsinError, TransientError

DEEPEST = 50
"""Levels of a call's arguments; what goes deeper is no question but an attack."""


@dataclass(frozen=True, slots=True)
class Made:
    """A call with its answer; one that was not made used no tool."""

    call: ToolCall
    message: Message
    used: bool


def refusal(call: ToolCall, why: str) -> Made:
    """Return the answer to a call that is not made."""
    return Made(call, own(call, ToolResult(status=Status.REFUSED, message=why)), used=False)


def arguments_of(call: ToolCall) -> Mapping[str, Any] | None:
    """Return the arguments; None for what is no JSON object, or goes too deep."""
    try:
        found = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and _is_flat(found, DEEPEST) else None


def identity(call: ToolCall) -> tuple[str, str]:
    """Return what makes two calls the same, however their arguments are written."""
    found = arguments_of(call)
    written = call.arguments if found is None else json.dumps(found, sort_keys=True)
    return call.name, written


def repeats(messages: Sequence[Message]) -> Counter[tuple[str, str]]:
    """Return how often each very same call was asked for."""
    return Counter(identity(call) for message in messages for call in message.calls)


@dataclass(frozen=True, slots=True)
class Calling:
    """Makes calls. `asked` says by the id of a call which other agent answers it."""

    engine: Engine
    asked: Mapping[str, str] = field(default_factory=dict)

    async def make(
        self, turn: Turn, tools: Mapping[str, Tool], calls: Sequence[ToolCall], seconds: float
    ) -> list[Made]:
        """Return every call with its answer, in the order of the calls."""
        turns = asyncio.Semaphore(self.engine.at_once)

        async def one(call: ToolCall) -> Made:
            async with turns:
                return await self._one(turn, tools, call, seconds)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(call)) for call in calls]
        return [task.result() for task in tasks]

    async def _one(
        self, turn: Turn, tools: Mapping[str, Tool], call: ToolCall, seconds: float
    ) -> Made:
        if turn.invocation.cancel.requested:
            return refusal(call, "the run was cancelled before this call")
        arguments = arguments_of(call)
        if arguments is None:
            error = f"the arguments have to be a JSON object of {DEEPEST} levels at most"
            return Made(call, own(call, ToolResult(status=Status.ERROR, error=error)), used=False)
        if call.name not in tools:
            known = ", ".join(tools) or "none"
            return refusal(call, f"there is no tool {call.name!r}; there are: {known}")
        name, other = turn.agent.name, self.asked.get(call.id)
        if other:
            await turn.invocation.hear(events.Transferred(agent=name, to=other))
        author = other or name
        started = events.ToolStarted(
            agent=author, call=call.id, tool=call.name, arguments=call.arguments
        )
        await turn.invocation.hear(started)
        begun = self.engine.clock()
        result = await self._hooked(turn, tools[call.name], call, arguments, seconds)
        message = await self.engine.quoting.message(turn.invocation.scope, call, result)
        ended = events.ToolEnded(
            agent=author,
            call=call.id,
            tool=call.name,
            status=result.status,
            seconds=self.engine.clock() - begun,
            ref=message.ref,
        )
        await turn.invocation.hear(ended)
        if other:
            message = message.model_copy(update={"author": other})
            await turn.invocation.hear(events.Transferred(agent=other, to=name))
        return Made(call, message, used=result.status is not Status.REFUSED)

    async def _hooked(
        self, turn: Turn, tool: Tool, call: ToolCall, arguments: Mapping[str, Any], seconds: float
    ) -> ToolResult:
        hooks = turn.agent.callbacks
        try:
            result = await first(hooks.before_tool, turn.step, call)
            if result is None:
                result = await self._bounded(turn, tool, call, arguments, seconds)
        except TocsinError as error:
            result = await self._failed(turn, call, error)
        try:
            return await rewritten(hooks.after_tool, turn.step, call, result=result)
        except TocsinError as error:
            return ToolResult(status=Status.ERROR, error=str(error))

    async def _bounded(
        self, turn: Turn, tool: Tool, call: ToolCall, arguments: Mapping[str, Any], seconds: float
    ) -> ToolResult:
        cancel, grace = turn.invocation.cancel, self.engine.grace_seconds
        try:
            async with watching(seconds, cancel, grace=grace):
                return await tool.call(arguments, self._context(turn, call))
        except StoppedError as stopped:
            if stopped.why is Stop.CANCELLED:
                message = "It was still running when the run was cancelled."
                return ToolResult(status=Status.ERROR, error="cancelled", message=message)
            raise TransientError(f"{call.name} did not answer within {seconds:g} s") from None
        except OSError as error:
            raise TransientError(f"{call.name} failed: {error}") from error

    def _context(self, turn: Turn, call: ToolCall) -> ToolContext:
        given, author = turn.invocation.tools, self.asked.get(call.id, turn.agent.name)

        async def progress(text: str) -> None:
            told = events.ToolProgressed(agent=author, call=call.id, tool=call.name, text=text)
            await turn.invocation.hear(told)
            await given.progress(text)

        return replace(given, call=call.id, progress=progress)

    async def _failed(self, turn: Turn, call: ToolCall, error: TocsinError) -> ToolResult:
        try:
            hooks = turn.agent.callbacks.tool_error
            return await recovered(hooks, turn.step, call, error=error)
        except TocsinError as left:
            return ToolResult(status=Status.ERROR, error=str(left))


def _is_flat(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_flat(one, levels - 1) for one in inner)
