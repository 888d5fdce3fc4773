"""Instructions in their forms: a text, a file, a template over state, or a function."""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tocsin_agents.instructions.file import InstructionsFile
from tocsin_agents.instructions.segments import Segment
from tocsin_agents.state import State
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import clean

VALUE_CHARACTERS = 4000
"""The most that one value of state may add to a template."""

_PLACE = re.compile(
    r"(?P<brace>\{\{|\}\})"
    r"|\{(?P<key>(?:(?:app|user|run|temp):)?[A-Za-z_][A-Za-z0-9_.-]*)(?P<optional>\?)?\}"
)


@dataclass(frozen=True, slots=True)
class Template:
    """A text with `{key}`, which has to be in the state, and `{key?}`, which may be missing.

    `{{` and `}}` are braces; braces around anything but a key stay as they are. Values are put in
    cleaned, capped and between marks, as data, and are not looked at for places again.
    """

    text: str

    def filled(self, state: State, agent: str, mark: str) -> str:
        """Return the text with its values; PermanentError names a key that is missing.

        `mark` has to be one that nobody can have foreseen.
        """

        def value(found: re.Match[str]) -> str:
            if found["brace"]:
                return str(found["brace"][0])
            key = found["key"]
            if key in state:
                return f"<<<output {mark}>>>{_shown(state[key])}<<<end {mark}>>>"
            if found["optional"]:
                return ""
            raise PermanentError(
                f"the instructions of agent {agent!r} need {key!r}, which its state does not hold; "
                f"set it before the run or write {{{key}?}}"
            )

        return _PLACE.sub(value, self.text)


Provider = Callable[[State], Awaitable[str]]
"""Writes instructions when they are needed."""

Instructions = str | InstructionsFile | Template | Provider


async def written(name: str, given: Instructions, state: State, agent: str, mark: str) -> Segment:
    """Return a segment of instructions; stable is what no state changes."""
    if isinstance(given, str):
        return Segment(name, given, stable=True)
    if isinstance(given, InstructionsFile):
        return Segment(name, await given.text(), stable=True)
    if isinstance(given, Template):
        return Segment(name, given.filled(state, agent, mark), stable=False, mark=mark)
    return Segment(name, await given(state), stable=False)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clean(text, VALUE_CHARACTERS).text
