"""What makes two questions the same: their words, without marks, secrets, and who wrote them when.

A mark stands around what others wrote and is made anew each time; a secret is masked in what is
played again, so it counts as masked here too.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from tocsin_agents.messages import Message, Role
from tocsin_agents.models.port import OfferedTool, Question
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line
from tocsin_rca.recording.entries import Part

_MARKS = re.compile(r"<<<(output|end) [0-9A-Za-z]{1,64}>>>")
_ABOUT = 70


def parts(question: Question) -> tuple[Part, ...]:
    """Return the parts of a question in their order."""
    counted = dict.fromkeys(Role, 0)
    told = [_message(message, counted) for message in question.messages]
    bounds = f"{question.forced} {question.most_tokens}"
    return (*told, *map(_tool, question.tools), Part(about="bounds", digest=digest(bounds)))


def of_conversation(question: Question) -> str:
    """Return the digest of what was said until a question, whatever system text and tools it has.

    No two questions of one conversation share it: whoever asks with it again asks the same anew.
    """
    said = [message for message in question.messages if message.role is not Role.SYSTEM]
    return whole(parts(Question(messages=tuple(said))))


def whole(found: Iterable[Part]) -> str:
    """Return the digest of all parts together."""
    return digest(" ".join(part.digest for part in found))


def of_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the digest of a call of a tool, however its arguments are written."""
    return digest(f"{tool} {json.dumps(arguments, sort_keys=True, default=str)}")


@lru_cache(maxsize=512)
def digest(text: str) -> str:
    """Return the digest of a text; most texts of a conversation are asked for again and again."""
    plain = _MARKS.sub(r"<<<\1>>>", Redactor().text(text))
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def differing(then: Iterable[Part], now: Iterable[Part]) -> Iterator[str]:
    """Yield a sentence for each part of a question that is another now."""
    for old, new in zip_longest(then, now):
        if new is None:
            yield f"without {old.about}"
        elif old is None:
            yield f"with {new.about} beside"
        elif old.digest != new.digest:
            yield (
                f"{new.about} is another"
                if old.about == new.about
                else (f"{new.about} in place of {old.about}")
            )


def _message(message: Message, counted: dict[Role, int]) -> Part:
    counted[message.role] += 1
    head = line(Redactor().text(message.text)[:_ABOUT], _ABOUT)
    about = f"{message.role.value} text {counted[message.role]} ({head!r})"
    return Part(
        about=about, digest=digest(message.model_copy(update={"ref": ""}).model_dump_json())
    )


def _tool(tool: OfferedTool) -> Part:
    return Part(about=f"tool {tool.name}", digest=digest(tool.model_dump_json()))
