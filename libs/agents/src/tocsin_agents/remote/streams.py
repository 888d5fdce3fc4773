"""What an external agent says, whichever of the known shapes it says it in."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

DONE = "[DONE]"

Shape = Mapping[str, Any]

_SPOKEN = {"", "text", "text_delta", "content", "content_block_delta", "delta", "message"}
"""What a simple shape may call itself to be text; a thought or a call of a tool is none."""

_FAILED = {"failed", "rejected", "canceled", "input-required", "auth-required"}
_ENDED = {"completed", *_FAILED}
_TOOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}")
_MOST_TOOLS = 50


@dataclass(slots=True)
class Heard:
    """An answer as it is put together. `failure` says why it is none; `ended`, that no more comes.

    Its text is what the agent handed over as artifacts; without those, what it said last or wrote
    piece by piece. Thoughts are left out. `tools` are the names of tools that it says it used.
    """

    failure: str = ""
    ended: bool = False
    tools: list[str] = field(default_factory=list)
    _written: str = ""
    _said: str = ""
    _artifacts: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The answer so far."""
        handed = [text for text in self._artifacts.values() if text.strip()]
        return "\n\n".join(handed) or self._written or self._said

    def take(self, data: str) -> str:
        """Add the data of one event, or a whole body; return the text that it brought."""
        if data.strip() == DONE:
            self.ended = True
            return ""
        shape = _parsed(data)
        if isinstance(shape, str):
            self._written += shape
            return shape
        if "error" in shape:
            self._fail(_reason(shape["error"]))
            return ""
        if "jsonrpc" in shape:
            return self._event(_object(shape.get("result")))
        return self._event(shape) if _kind(shape) else self._simple(shape)

    def _simple(self, shape: Shape) -> str:
        text = _simple_text(shape)
        self._written += text
        return text

    def _event(self, result: Shape) -> str:
        """Take what the A2A protocol sends, in the forms of its versions 0.x and 1.0."""
        kind = _kind(result)
        event = _object(result.get(_WRAPPED.get(kind, ""), result))
        match kind:
            case "artifact-update":
                return self._artifact(_object(event.get("artifact")), bool(event.get("append")))
            case "task":
                for artifact in _objects(event.get("artifacts")):
                    self._artifact(artifact, append=False)
                return self._status(_object(event.get("status")))
            case "status-update":
                return self._status(_object(event.get("status")))
            case "message":
                self.ended = True
                return self._message(event)
        return ""

    def _artifact(self, artifact: Shape, append: bool) -> str:
        key, text = str(artifact.get("artifactId", "")), self._parts(artifact)
        self._artifacts[key] = (self._artifacts.get(key, "") if append else "") + text
        return text

    def _status(self, status: Shape) -> str:
        state = str(status.get("state", "")).lower().removeprefix("task_state_").replace("_", "-")
        text = self._message(_object(status.get("message")))
        if state in _FAILED:
            self._fail(f"{state}: {text}" if text else state)
        self.ended = self.ended or state in _ENDED
        return text

    def _message(self, message: Shape) -> str:
        text = self._parts(message)
        self._said = text or self._said
        return text

    def _parts(self, holder: Shape) -> str:
        return "".join(self._part(part) for part in _objects(holder.get("parts")))

    def _part(self, part: Shape) -> str:
        metadata = _object(part.get("metadata"))
        if any(key.endswith("thought") and value for key, value in metadata.items()):
            return ""
        if any(
            key.endswith("type") and value == "function_call" for key, value in metadata.items()
        ):
            self._used(_object(part.get("data")).get("name"))
        text = part.get("text")
        return text if isinstance(text, str) else ""

    def _used(self, name: Any) -> None:
        valid = isinstance(name, str) and _TOOL.fullmatch(name)
        if valid and name not in self.tools and len(self.tools) < _MOST_TOOLS:
            self.tools.append(name)

    def _fail(self, why: str) -> None:
        self.failure = self.failure or why or "it failed and did not say why"
        self.ended = True


_WRAPPED = {
    "task": "task",
    "message": "message",
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
}
"""How version 1.0 wraps what the versions before it called so."""


def _kind(result: Shape) -> str:
    """Return what an event of A2A is, or nothing for another shape."""
    kind = result.get("kind")
    if isinstance(kind, str) and kind in _WRAPPED:
        return kind
    wrapped = (kind for kind, key in _WRAPPED.items() if isinstance(result.get(key), dict))
    return next(wrapped, "") or next(_told_apart(result), "")


def _told_apart(result: Shape) -> Iterator[str]:
    """Some servers leave out what an event is called."""
    if isinstance(result.get("artifact"), dict):
        yield "artifact-update"
    if isinstance(result.get("status"), dict):
        yield "task" if "artifacts" in result else "status-update"
    if isinstance(result.get("parts"), list):
        yield "message"


def _simple_text(shape: Shape) -> str:
    kind = shape.get("type") or ""
    if not isinstance(kind, str) or kind not in _SPOKEN:
        return ""
    found = (shape.get("text"), shape.get("content"), _object(shape.get("delta")).get("text"))
    return next((text for text in found if isinstance(text, str)), "")


def _parsed(data: str) -> Shape | str:
    """Return an object, or the text: a JSON string is one, and so is whatever is no JSON."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return value if isinstance(value, dict | str) else data


def _reason(error: Any) -> str:
    return str(error.get("message", "")) if isinstance(error, dict) else str(error or "")


def _object(value: Any) -> Shape:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Shape]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
