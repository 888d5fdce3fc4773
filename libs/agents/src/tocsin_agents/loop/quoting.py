"""A tool's answer as a model reads it: cleaned, capped, and marked as somebody else's words."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from tocsin_agents.loop.outputs import Outputs
from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_agents.tools.port import ToolResult
from tocsin_kit.untrusted import clean, line

KEPT_CHARACTERS = 2_000_000
"""The most of one output that is kept at all."""

OWN_CHARACTERS = 2000
"""The most of our own words, in which a model's may be repeated."""

REF_CHARACTERS = 600
"""Longer outputs are kept, so that they can be left out later and still be read."""


def own(call: ToolCall, result: ToolResult) -> Message:
    """Return the answer to a call in our own words, which need no marks."""
    said = clean(result.error or result.message, OWN_CHARACTERS).text
    text = f"{result.status.value}: {said}"
    return Message(role=Role.TOOL, call=call.id, text=text)


@dataclass(frozen=True, slots=True)
class Quoting:
    """Turns results into messages. `nonce` gives each a mark that nobody can have foreseen."""

    outputs: Outputs
    nonce: Callable[[], str]
    most: int = 8000

    async def message(self, scope: str, call: ToolCall, result: ToolResult) -> Message:
        """Return what the model is told; the whole text stays reachable by the message's ref."""
        whole = clean(_text(result), KEPT_CHARACTERS).text
        ref = result.ref
        if not ref and len(whole) > min(REF_CHARACTERS, self.most):
            ref = await self.outputs.keep(scope, whole)
        shown = clean(whole, self.most)
        head = _head(result)
        if shown.truncated:
            head += f" (cut; {_where(ref, len(whole))})"
        mark = self.nonce()
        text = f"{head}\n<<<output {mark}>>>\n{shown.text}\n<<<end {mark}>>>" if whole else head
        return Message(role=Role.TOOL, call=call.id, text=text, ref=ref)


def _where(ref: str, total: int) -> str:
    if ref:
        return f'all {total} characters: read_output(ref="{ref}")'
    return f"the other of {total} characters are not kept; ask for less of it"


def _head(result: ToolResult) -> str:
    return result.status.value


def _text(result: ToolResult) -> str:
    said = [line(part, 500) for part in (result.error, result.message) if part]
    if result.data is not None:
        data = result.data
        said.append(
            data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
        )
    return "\n".join(said)
