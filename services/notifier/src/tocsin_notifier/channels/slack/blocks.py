"""Block Kit, as little of it as we need, with its limits kept in one place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tocsin_notifier.channels.slack.text import plain

HEADER, SECTION, FIELD, CONTEXT = 150, 3000, 2000, 3000
MOST_FIELDS = 10
BUTTON, CONFIRM_TITLE, CONFIRM_TEXT = 75, 100, 300
TEXT = 3000
"""Characters of a message without blocks; Slack takes more and asks for fewer."""

Block = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """One message: its blocks, and the text that notifications and old clients show instead."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Confirm:
    """What is asked before a button counts."""

    title: str
    text: str
    yes: str


def header(text: str) -> Block:
    """Return a headline, in which Slack reads no marks."""
    return {"type": "header", "text": _plain(text, HEADER)}


def section(text: str) -> Block:
    """Return a paragraph of escaped text."""
    return {"type": "section", "text": _marked(text)}


def fields(pairs: Iterable[tuple[str, str]]) -> Block:
    """Return facts beside each other, by their names; the text is escaped."""
    told = [_marked(f"*{name}*\n{value}") for name, value in pairs if value]
    return {"type": "section", "fields": told[:MOST_FIELDS]}


def context(text: str) -> Block:
    """Return a line in small letters."""
    return {"type": "context", "elements": [_marked(text)]}


def actions(elements: Sequence[Block]) -> Block:
    """Return buttons beside each other."""
    return {"type": "actions", "elements": list(elements)}


def button(
    action: str, words: str, value: str, style: str = "", confirm: Confirm | None = None
) -> Block:
    """Return a button that tells us its value."""
    return {
        "type": "button",
        "action_id": action,
        "text": _plain(words, BUTTON),
        "value": value,
        **({"style": style} if style else {}),
        **({"confirm": _confirm(confirm)} if confirm else {}),
    }


def opens(action: str, words: str, url: str) -> Block:
    """Return a button that opens a page."""
    return {"type": "button", "action_id": action, "text": _plain(words, BUTTON), "url": url}


def modal(callback: str, memory: str, title: str, label: str, action: str) -> Mapping[str, Any]:
    """Return a window that asks for one text and cannot be sent without it."""
    return {
        "type": "modal",
        "callback_id": callback,
        "private_metadata": memory,
        "title": _plain(title, 24),
        "submit": _plain(title, 24),
        "close": _plain("Back", 24),
        "blocks": [
            {
                "type": "input",
                "block_id": action,
                "label": _plain(label, 2000),
                "element": {
                    "type": "plain_text_input",
                    "action_id": action,
                    "multiline": True,
                    "min_length": 1,
                    "max_length": 1000,
                },
            }
        ],
    }


def _plain(text: str, limit: int) -> Block:
    return {"type": "plain_text", "text": plain(text, limit), "emoji": False}


def _marked(text: str) -> Block:
    """Verbatim: Slack looks for no addresses, channels or people in it."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _confirm(confirm: Confirm) -> Block:
    return {
        "title": _plain(confirm.title, CONFIRM_TITLE),
        "text": _plain(confirm.text, CONFIRM_TEXT),
        "confirm": _plain(confirm.yes, 30),
        "deny": _plain("Back", 30),
    }
