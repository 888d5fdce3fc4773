"""Puts an answer together from the pieces of a stream."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tocsin_agents.messages import ToolCall
from tocsin_agents.models.prices import Counted
from tocsin_agents.models.wire import Names


@dataclass(slots=True)
class _Call:
    id: str
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Gathering:
    """What a stream has said so far. `counted` is None until it says what it used.

    `size` is in characters, and a call is one at least.
    """

    finish: str = ""
    counted: Counted | None = None
    size: int = 0
    _texts: list[str] = field(default_factory=list)
    _thoughts: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _places: dict[int, _Call] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What was said."""
        return joined(self._texts)

    @property
    def thought(self) -> str:
        """What was thought before."""
        return joined(self._thoughts)

    def take(self, chunk: Any) -> str:
        """Add a chunk in the shape of OpenAI's; return the text that it brought."""
        if usage := getattr(chunk, "usage", None):
            self.counted = _counted(usage)
        for choice in chunk.choices[:1]:
            self.finish = choice.finish_reason or self.finish
            return self._delta(choice.delta)
        return ""

    def calls(self, names: Names) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which they began, with the names of our tools."""
        return tuple(
            ToolCall(
                id=joined([call.id]),
                name=names.tool(joined([call.name])),
                arguments=joined([call.arguments]) or "{}",
            )
            for call in self._calls
        )

    def _delta(self, delta: Any) -> str:
        text = delta.content or ""
        thought = getattr(delta, "reasoning_content", None) or ""
        self._texts.append(text)
        self._thoughts.append(thought)
        self.size += len(text) + len(thought)
        for piece in delta.tool_calls or ():
            call = self._call(piece.index or 0, piece.id or "")
            call.name += piece.function.name or ""
            call.arguments += piece.function.arguments or ""
            self.size += 1 + len(piece.function.name or "") + len(piece.function.arguments or "")
        return joined([text])

    def _call(self, place: int, id: str) -> _Call:
        """A new id starts a call, even at a place that is taken: some providers count none."""
        known = self._places.get(place)
        if known and id in ("", known.id):
            return known
        self._places[place] = _Call(id or f"call-{len(self._calls) + 1}")
        self._calls.append(self._places[place])
        return self._places[place]


def joined(pieces: Iterable[str]) -> str:
    """Return the pieces as one text that can be sent on: half a character is none, two are one."""
    text = "".join(pieces)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _counted(usage: Any) -> Counted:
    details = getattr(usage, "prompt_tokens_details", None)
    return Counted(
        input=usage.prompt_tokens or 0,
        cached=getattr(details, "cached_tokens", None) or 0,
        written=getattr(usage, "cache_creation_input_tokens", None) or 0,
        output=usage.completion_tokens or 0,
    )
