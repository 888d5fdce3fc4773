"""Messages to Mattermost, in Markdown that calls nobody and links nothing but the run."""

import re

from tocsin_notifier.hooks import Post
from tocsin_notifier.layout import FENCE, Part, fitted, parts, uncalling, units
from tocsin_notifier.ports import Message

LIMIT = 16_383
"""Characters of a post; a longer one is split in the middle of its marks."""

_MARKS = re.compile(r"([\\`*_{}\[\]()|~>]|^[-+#=])")
_SLACKISH = re.compile(r"<(?=[!@#]|https?:|mailto:)")
"""Mattermost reads Slack's links and mentions too, even in code."""

_APART = "<\N{ZERO WIDTH SPACE}"


def write(message: Message) -> Post:
    """Return the post of a message."""
    text = fitted(message.text, lambda shown: units(_post(message, shown)), LIMIT)
    return Post({"text": _post(message, text)})


def _post(message: Message, text: str) -> str:
    link = [f"[Open in the console](<{message.link}>)"] if message.link else []
    return "\n".join([f"#### {_escaped(message.title)}", *map(_shown, parts(text)), *link])


def _shown(part: Part) -> str:
    if part.code:
        lines = (_SLACKISH.sub(_APART, line) for line in part.lines)
        return "\n".join([f"{FENCE}diff", *lines, FENCE])
    return "\n".join(map(_escaped, part.lines))


def _escaped(text: str) -> str:
    """Return text that stands for itself: an entity for what a backslash does not disarm."""
    plain = _MARKS.sub(r"\\\1", uncalling(text).replace("&", "\0"))
    return plain.replace("\0", "&amp;").replace("<", "&lt;")
