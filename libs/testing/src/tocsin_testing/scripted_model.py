"""A model that says what a test wrote down, in order, and keeps what it was asked."""

import asyncio
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tocsin_agents.messages import ToolCall
from tocsin_agents.models.port import Answer, OnText, Question, Usage
from tocsin_agents.models.prices import Price
from tocsin_kit.errors import TocsinError

_PIECES = re.compile(r"\S+\s*|\s+")
_IDS = itertools.count(1)

SMALL = Usage(input_tokens=10, output_tokens=5)
"""What an answer uses when a test does not care."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """An answer that says so many of its words, and the rest only once the gate is open."""

    answer: Answer
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    words: int = 0


Line = str | Answer | Stalled | TocsinError


class ScriptedModel:
    """Answers in order: a text, an answer, one that stalls, or an error that it raises.

    `stalled` is set as soon as an answer waits for its gate. A question too many fails the test.
    """

    def __init__(
        self, *script: Line, name: str = "scripted/model", price: Price | None = None
    ) -> None:
        self._name = name
        self._price = price
        self._script = list(script)
        self.questions: list[Question] = []
        self.stalled = asyncio.Event()

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    async def price(self) -> Price | None:
        """Return what the test says that it costs."""
        return self._price

    @property
    def left(self) -> int:
        """How many lines nobody has asked for yet."""
        return len(self._script)

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Return the next line, its text word by word if somebody listens."""
        self.questions.append(question)
        assert self._script, f"{self._name} was asked once too often: {question.messages[-1]!r}"
        line = self._script.pop(0)
        if isinstance(line, TocsinError):
            raise line
        if isinstance(line, str):
            line = Answer(model=self._name, text=line, usage=SMALL)
        said = line if isinstance(line, Stalled) else Stalled(line, words=-1)
        pieces = _PIECES.findall(said.answer.text)
        await self._say(pieces[: said.words] if said.words >= 0 else pieces, on_text)
        if said.words >= 0:
            self.stalled.set()
            await said.gate.wait()
            await self._say(pieces[said.words :], on_text)
        return said.answer

    async def _say(self, pieces: Sequence[str], on_text: OnText | None) -> None:
        for piece in pieces if on_text else ():
            assert on_text
            await on_text(piece)


def asks(
    *wanted: tuple[str, dict[str, Any]],
    text: str = "",
    usage: Usage = SMALL,
    ids: Sequence[str] = (),
) -> Answer:
    """Return an answer that asks for tools: `asks(("k8s.get", {"name": "api"}))`."""
    names = ids or [f"call-{next(_IDS)}" for _ in wanted]
    calls = tuple(
        ToolCall(id=id, name=name, arguments=json.dumps(arguments))
        for id, (name, arguments) in zip(names, wanted, strict=True)
    )
    return Answer(model="scripted/model", text=text, calls=calls, usage=usage)


def says(text: str, *, thought: str = "", usage: Usage = SMALL) -> Answer:
    """Return an answer that is only a text."""
    return Answer(model="scripted/model", text=text, thought=thought, usage=usage)
