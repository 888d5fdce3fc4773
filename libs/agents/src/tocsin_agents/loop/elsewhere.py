"""Handovers to agents elsewhere: a question through their tool, and the answer comes back."""

import json
from collections.abc import Mapping, Sequence

from tocsin_agents.agent import External
from tocsin_agents.loop.calling import Made, arguments_of, refusal
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.turn import Turn
from tocsin_agents.messages import ToolCall
from tocsin_agents.transfer import TRANSFER


def target(call: ToolCall) -> str:
    """Return the agent that a call hands over to; nothing for any other call."""
    return _text(call, "agent") if call.name == TRANSFER else ""


def asking(call: ToolCall, asked: Mapping[str, str]) -> ToolCall:
    """Return a handover to somebody elsewhere as the question that it is; any other as it was.

    `asked` says by the id of a call whom it is for.
    """
    if call.id not in asked:
        return call
    name = External(asked[call.id]).tool
    return call.model_copy(
        update={"name": name, "arguments": json.dumps({"question": _text(call, "question")})}
    )


def unasked(
    turn: Turn, calls: Sequence[ToolCall], asked: Mapping[str, str], engine: Engine
) -> dict[str, Made]:
    """Return who is not asked, for want of a question or of handovers; count the other ones."""
    refused, hops = {}, turn.set.get("hops", turn.was["hops"])
    for call in (call for call in calls if call.id in asked):
        if not _text(call, "question").strip():
            why = f"{asked[call.id]} sees nothing of this; say in `question` all that it must know"
            refused[call.id] = refusal(call, why)
        elif hops >= engine.limits.transfers:
            refused[call.id] = refusal(call, "it was handed over often enough; go on yourself")
        else:
            hops += 1
    turn.set["hops"] = hops
    return refused


def _text(call: ToolCall, argument: str) -> str:
    found = (arguments_of(call) or {}).get(argument)
    return found if isinstance(found, str) else ""
