"""Messages to Google Chat, as cards in a thread of their run."""

import html
from typing import Any

from tocsin_notifier.hooks import Post, encoded
from tocsin_notifier.layout import Part, fitted, parts
from tocsin_notifier.ports import Message

LIMIT = 32_000
"""Bytes of a message, with its cards."""

_COLOURS = {"+": "#1a7f37", "-": "#cf222e", "@": "#6e7781"}


def write(message: Message) -> Post:
    """Return the card of a message; a request that comes twice is one, for it has an id."""
    text = fitted(message.text, lambda shown: len(encoded(_body(message, shown))), LIMIT)
    query = {
        "messageReplyOption": "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD",
        "requestId": message.id,
    }
    return Post(_body(message, text), query)


def _body(message: Message, text: str) -> dict[str, Any]:
    widgets = [_paragraph(f"<b>{_escaped(message.title)}</b>")]
    widgets += [_paragraph("<br>".join(_lines(part))) for part in parts(text)]
    if message.link:
        opens = {"text": "Open in the console", "onClick": {"openLink": {"url": message.link}}}
        widgets.append({"buttonList": {"buttons": [opens]}})
    card = {"sections": [{"widgets": widgets}]}
    return {
        "cardsV2": [{"cardId": message.id, "card": card}],
        "fallbackText": message.title,
        "thread": {"threadKey": message.run_id},
    }


def _paragraph(text: str) -> dict[str, Any]:
    return {"textParagraph": {"text": text}}


def _lines(part: Part) -> list[str]:
    return [_code(line) if part.code else _escaped(line) for line in part.lines]


def _code(line: str) -> str:
    """A line of a diff: spaces would be lost, and its colour says what it is."""
    kept = _escaped(line).replace("  ", "&nbsp;&nbsp;")
    colour = _COLOURS.get(line[:1], "")
    return f'<font color="{colour}">{kept}</font>' if colour else kept


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)
