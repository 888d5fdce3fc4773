"""A question as providers take it: chat messages and functions whose names they all allow."""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_agents.models.port import OfferedTool, Question

LONGEST_NAME = 64
"""Characters of a function's name; providers take letters, digits, `_` and `-`."""

MOST_MARKS = 3
"""Of messages: providers take four, and one is on the tools."""

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MARK = {"cache_control": {"type": "ephemeral"}}


def wire_name(name: str) -> str:
    """Return the function's name for a tool: `k8s.get` is `k8s__get`.

    Where that could stand for another tool, or is too long, a digest of the name is its end.
    """
    plain = name.replace(".", "__")
    if plain.replace("__", ".") == name and _PLAIN.fullmatch(plain):
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', plain)[: LONGEST_NAME - 13]}-{digest}"


class Names:
    """Turns functions back into the tools that were offered."""

    def __init__(self, tools: Iterable[OfferedTool]) -> None:
        self._tools = {wire_name(tool.name): tool.name for tool in tools}

    def tool(self, function: str) -> str:
        """Return a tool's name; a function that was never offered stays what the model called."""
        return self._tools.get(function, function)


def messages(question: Question, *, marked: bool) -> list[dict[str, Any]]:
    """Return the messages; if marked, the last of stable ones says that all up to it may be cached.

    Where a changing text stands between stable ones, those before it stay in the cache.
    """
    stable = {n for n, message in enumerate(question.messages) if message.stable}
    ends = sorted(n for n in stable if n + 1 not in stable)[-MOST_MARKS:] if marked else []
    return [_message(message, cached=n in ends) for n, message in enumerate(question.messages)]


def tools(question: Question, *, marked: bool) -> list[dict[str, Any]]:
    """Return the functions; if marked, the last one says that all of them may be cached."""
    offered = [_function(tool) for tool in question.tools]
    if marked and offered:
        offered[-1] |= _MARK
    return offered


def choice(question: Question) -> dict[str, Any] | None:
    """Return the function that the answer must be a call of, if there is one."""
    name = question.forced
    return {"type": "function", "function": {"name": wire_name(name)}} if name else None


def takes_marks(model: str) -> bool:
    """Return whether a model's provider caches what is marked; the others need no mark."""
    return "claude" in model.lower()


def _message(message: Message, *, cached: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if cached and message.text:
        said["content"] = [{"type": "text", "text": message.text, **_MARK}]
    if message.role is Role.TOOL:
        said["tool_call_id"] = message.call
    if message.calls:
        said["content"] = said["content"] or None
        said["tool_calls"] = [_call(call) for call in message.calls]
    return said


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": wire_name(call.name), "arguments": _arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(text: str) -> str:
    """Some providers refuse a conversation in which a model once wrote something else."""
    try:
        return text if isinstance(json.loads(text), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def _function(tool: OfferedTool) -> dict[str, Any]:
    function = {
        "name": wire_name(tool.name),
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}
