"""Messages to Microsoft Teams, as Adaptive Cards that a workflow posts.

Every text is a `TextRun`, in which Teams reads no Markdown: it links and mentions nothing.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from tocsin_notifier.hooks import Post, encoded
from tocsin_notifier.layout import fitted, parts
from tocsin_notifier.ports import Message

LIMIT = 20_000
"""Bytes of a message. Teams documents 28 KB, and counts more than the body that was posted."""

_NBSP = "\N{NO-BREAK SPACE}"
_COLOURS = {"+": "Good", "-": "Attention", "@": "Accent"}


def write(message: Message) -> Post:
    """Return the card of a message."""
    text = fitted(message.text, lambda shown: len(encoded(_card(message, shown))), LIMIT)
    return Post(_card(message, text))


def _card(message: Message, text: str) -> dict[str, Any]:
    link = {"type": "Action.OpenUrl", "title": "Open in the console", "url": message.link}
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "msteams": {"width": "Full"},
        "fallbackText": message.title,
        "body": [_line(message.title, weight="Bolder", size="Medium"), *_body(text)],
        "actions": [link] if message.link else [],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    attachment = {"contentType": kind, "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _body(text: str) -> Iterator[dict[str, Any]]:
    for part in parts(text):
        shown = _code if part.code else partial(_line, spacing="Small")
        yield from map(shown, part.lines)


def _code(line: str) -> dict[str, Any]:
    """A line of a diff: spaces at its beginning would be lost, and its colour says what it is."""
    kept = line.replace("  ", _NBSP * 2)
    colour = _COLOURS.get(line[:1], "Default")
    return _line(kept, spacing="None", fontType="Monospace", color=colour, size="Small")


def _line(text: str, spacing: str = "Default", **looks: str) -> dict[str, Any]:
    run = {"type": "TextRun", "text": text or _NBSP, **looks}
    return {"type": "RichTextBlock", "spacing": spacing, "inlines": [run]}
