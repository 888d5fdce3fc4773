"""Hooks around what an agent does: before, after and on error, for agent, model and tool.

Hooks run in their order. The first `before` that returns something replaces the step. Every
`after` may return another result, which the next one is given. An `error` hook returns a result
that the step has instead, or another error, which the next one is given. `check_result` says what
is wrong with a result that fits its schema: then it is to be submitted anew, once.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from tocsin_agents.messages import ToolCall
from tocsin_agents.models.port import Answer, Question
from tocsin_agents.state import State
from tocsin_agents.tools.port import Identity, ToolResult
from tocsin_kit.errors import TocsinError

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Step:
    """What a hook knows: whose step it is, for whom, and the state, which it may change."""

    agent: str
    identity: Identity
    state: State


BeforeAgent = Callable[[Step], Awaitable[str | None]]
AfterAgent = Callable[[Step, str], Awaitable[str | None]]
AgentError = Callable[[Step, TocsinError], Awaitable[str | TocsinError | None]]
BeforeModel = Callable[[Step, Question], Awaitable[Question | Answer | None]]
AfterModel = Callable[[Step, Answer], Awaitable[Answer | None]]
ModelError = Callable[[Step, TocsinError], Awaitable[Answer | TocsinError | None]]
BeforeTool = Callable[[Step, ToolCall], Awaitable[ToolResult | None]]
AfterTool = Callable[[Step, ToolCall, ToolResult], Awaitable[ToolResult | None]]
ToolError = Callable[[Step, ToolCall, TocsinError], Awaitable[ToolResult | TocsinError | None]]
CheckResult = Callable[[Step, BaseModel], Awaitable[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """The hooks of one agent. A question that `before_model` returns is asked instead."""

    before_agent: Sequence[BeforeAgent] = ()
    after_agent: Sequence[AfterAgent] = ()
    agent_error: Sequence[AgentError] = ()
    before_model: Sequence[BeforeModel] = ()
    after_model: Sequence[AfterModel] = ()
    model_error: Sequence[ModelError] = ()
    before_tool: Sequence[BeforeTool] = ()
    after_tool: Sequence[AfterTool] = ()
    tool_error: Sequence[ToolError] = ()
    check_result: Sequence[CheckResult] = ()


async def first(hooks: Sequence[Callable[..., Awaitable[R | None]]], *given: object) -> R | None:
    """Return what the first hook says that says something; the ones behind it are not asked."""
    for hook in hooks:
        said = await hook(*given)
        if said is not None:
            return said
    return None


async def rewritten(
    hooks: Sequence[Callable[..., Awaitable[R | None]]], *given: object, result: R
) -> R:
    """Return the result as every hook in turn has left it."""
    for hook in hooks:
        said = await hook(*given, result)
        result = result if said is None else said
    return result


async def recovered(
    hooks: Sequence[Callable[..., Awaitable[R | TocsinError | None]]],
    *given: object,
    error: TocsinError,
) -> R:
    """Return the result of the first hook that has one; else raise the error as they left it."""
    for hook in hooks:
        said = await hook(*given, error)
        if isinstance(said, TocsinError):
            error = said
        elif said is not None:
            return said
    raise error
