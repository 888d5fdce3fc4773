"""The end of an agent's work: a final text or object, as hooks leave it, kept in the state."""

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from tocsin_agents.callbacks import rewritten
from tocsin_agents.loop.outcome import Ending, Outcome
from tocsin_agents.loop.turn import Turn
from tocsin_kit.errors import PermanentError


async def finish_text(turn: Turn, text: str, *, cut_off: bool = False) -> None:
    """End with a text. The state gets no text that was cut off, nor one in place of an object."""
    text = await rewritten(turn.agent.callbacks.after_agent, turn.step, result=text)
    if turn.agent.output_key and not turn.agent.output_schema and not cut_off:
        turn.state[turn.agent.output_key] = text
    turn.set["outcome"] = Outcome(
        ending=Ending.CUT_OFF if cut_off else _ending(turn),
        agent=turn.agent.name,
        text=text,
        why="the answer reached its limit of tokens" if cut_off else _why(turn),
        exhausted=turn.closing,
    )


async def finish_object(turn: Turn, schema: type[BaseModel], found: BaseModel) -> None:
    """End with a valid object."""
    before = found.model_dump_json()
    after = await rewritten(turn.agent.callbacks.after_agent, turn.step, result=before)
    if after != before:
        found = _revalidated(turn, schema, after)
    data: dict[str, Any] = json.loads(found.model_dump_json())
    if turn.agent.output_key:
        turn.state[turn.agent.output_key] = data
    turn.set["outcome"] = Outcome(
        ending=_ending(turn),
        agent=turn.agent.name,
        text=after,
        data=data,
        why=_why(turn),
        exhausted=turn.closing,
    )


def validated(schema: type[BaseModel], arguments: str) -> BaseModel | str:
    """Return the object, or what is wrong with it, in words that a model can act on."""
    try:
        return schema.model_validate_json(arguments or "{}")
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'result'}: {e['msg']}" for e in wrong)


def _revalidated(turn: Turn, schema: type[BaseModel], text: str) -> BaseModel:
    found = validated(schema, text)
    if isinstance(found, str):
        raise PermanentError(
            f"an after_agent hook of {turn.agent.name!r} broke the result: {found}"
        )
    return found


def _ending(turn: Turn) -> Ending:
    return Ending.LIMITED if turn.closing else Ending.ANSWERED


def _why(turn: Turn) -> str:
    return str(turn.closing) if turn.closing else ""
