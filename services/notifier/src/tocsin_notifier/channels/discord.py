"""Messages to Discord, as one embed that calls nobody."""

import re

from tocsin_notifier.hooks import Post
from tocsin_notifier.layout import FENCE, Part, cut, fitted, parts, uncalling, units
from tocsin_notifier.ports import Message

TITLE, DESCRIPTION = 256, 4096
"""Characters that Discord takes of them, after they were escaped."""

COLOUR = 0xC2410C

_MARKS = re.compile(r"([\\*_~|`\[\]()<]|^[-#>])")


def write(message: Message) -> Post:
    """Return the embed of a message; `wait` has Discord say what it could not show."""
    text = fitted(message.text, lambda shown: units(_description(shown)), DESCRIPTION)
    embed = {
        "title": cut([_escaped(character) for character in uncalling(message.title)], TITLE),
        "description": _description(text),
        "color": COLOUR,
        "footer": {"text": f"Run {message.run_id}"},
        **({"url": message.link} if message.link else {}),
        **({"timestamp": message.event.at.isoformat()} if message.event else {}),
    }
    return Post({"embeds": [embed], "allowed_mentions": {"parse": []}}, {"wait": "true"})


def _description(text: str) -> str:
    return "\n".join(map(_shown, parts(text)))


def _shown(part: Part) -> str:
    if part.code:
        return "\n".join([f"{FENCE}diff", *part.lines, FENCE])
    return "\n".join(_escaped(uncalling(line)) for line in part.lines)


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)
