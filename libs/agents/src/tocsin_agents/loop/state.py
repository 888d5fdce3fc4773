"""What the loop remembers between steps: plain values that any checkpoint can hold."""

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from tocsin_agents.instructions.segments import SegmentDigest
from tocsin_agents.loop.outcome import Ending, Outcome
from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_contracts import Amounts, Exhausted
from tocsin_kit.spending import Spending

TYPES: tuple[type, ...] = (Message, Role, ToolCall, Spending, SegmentDigest, Outcome, Ending)
"""What a strict serializer has to revive beside the contracts."""


class LoopState(TypedDict, total=False):
    """One conversation with a team of agents.

    `request` and `since` are indices of messages: what is asked, and from where on the agent that
    speaks now was at work. `closing` is why only a last answer is still wanted.
    """

    agent: str
    entered: bool
    hops: int
    request: int
    since: int
    messages: Annotated[list[Message], operator.add]
    spent: Spending
    extended: Amounts
    values: dict[str, Any]
    changes: dict[str, Any]
    prompts: dict[str, list[SegmentDigest]]
    closing: Exhausted | None
    must_submit: bool
    nudged: bool
    repaired: bool
    outcome: Outcome | None


def start(
    agent: str, request: str, history: Sequence[Message], values: Mapping[str, Any]
) -> LoopState:
    """Return the state in which an agent is asked something after what was said before."""
    asked = Message(role=Role.USER, text=request)
    return LoopState(
        agent=agent,
        entered=False,
        hops=0,
        request=len(history),
        since=len(history) + 1,
        messages=[*history, asked],
        spent=Spending(),
        extended=Amounts(),
        values=dict(values),
        changes={},
        prompts={},
        closing=None,
        must_submit=False,
        nudged=False,
        repaired=False,
        outcome=None,
    )


def unanswered(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Return the calls of the newest answer that no tool message answers yet."""
    answered = {message.call for message in messages if message.role is Role.TOOL}
    said = [message for message in messages if message.role is Role.ASSISTANT]
    return tuple(call for call in (said[-1].calls if said else ()) if call.id not in answered)
