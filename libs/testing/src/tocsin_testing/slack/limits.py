"""What Slack refuses of a message, from its own reference of Block Kit."""

from collections.abc import Iterator, Mapping
from typing import Any

MOST_BLOCKS = 50
LONGEST_TEXT = 40_000
SECTION, FIELD, HEADER, CONTEXT, LABEL = 3000, 2000, 150, 3000, 2000
BUTTON, VALUE, ID, URL = 75, 2000, 255, 3000
CONFIRM = {"title": 100, "text": 300, "confirm": 30, "deny": 30}
MOST = {"fields": 10, "context": 10, "actions": 25}
VIEW_WORDS, MEMORY = 24, 3000
STYLES = ("primary", "danger")

Json = Mapping[str, Any]


def refusal(body: Json) -> str:
    """Return the error for a message; empty if it may be shown."""
    text, blocks = body.get("text", ""), body.get("blocks", [])
    if not text and not blocks:
        return "no_text"
    if _length(text) > LONGEST_TEXT:
        return "msg_too_long"
    return "invalid_blocks" if any(wrong(blocks)) else ""


def wrong(blocks: Any) -> Iterator[str]:
    """Yield what is wrong with blocks."""
    if not isinstance(blocks, list) or len(blocks) > MOST_BLOCKS:
        yield f"not at most {MOST_BLOCKS} blocks"
        return
    for block in blocks:
        kinds = {"header": _header, "section": _section, "context": _context, "actions": _actions}
        kind = {**kinds, "input": _input}.get(block.get("type"))
        yield from kind(block) if kind else [f"a block of type {block.get('type')!r}"]


def wrong_view(view: Json) -> Iterator[str]:
    """Yield what is wrong with a window."""
    for name in ("title", "submit", "close"):
        yield from _text(view.get(name), VIEW_WORDS, "plain_text")
    if _length(view.get("private_metadata", "")) > MEMORY:
        yield "a memory that is too long"
    if _length(view.get("callback_id", "")) > ID:
        yield "an id that is too long"
    yield from wrong(view.get("blocks"))


def _header(block: Json) -> Iterator[str]:
    yield from _text(block.get("text"), HEADER, "plain_text")


def _section(block: Json) -> Iterator[str]:
    if "text" not in block and not block.get("fields"):
        yield "a section that says nothing"
    if "text" in block:
        yield from _text(block["text"], SECTION)
    fields = block.get("fields", [])
    if len(fields) > MOST["fields"]:
        yield "too many fields"
    for field in fields:
        yield from _text(field, FIELD)


def _context(block: Json) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= MOST["context"]:
        yield "not 1 to 10 elements"
    for element in elements:
        yield from _text(element, CONTEXT)


def _actions(block: Json) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= MOST["actions"]:
        yield "not 1 to 25 elements"
    ids = [element.get("action_id") for element in elements]
    if len(set(ids)) < len(ids):
        yield "the same id twice"
    for element in elements:
        yield from _button(element)


def _button(button: Json) -> Iterator[str]:
    yield from _text(button.get("text"), BUTTON, "plain_text")
    if not 1 <= _length(button.get("action_id", "")) <= ID:
        yield "an id that is missing or too long"
    if _length(button.get("value", "")) > VALUE or _length(button.get("url", "")) > URL:
        yield "a value or an address that is too long"
    if button.get("style", "primary") not in STYLES:
        yield "an unknown style"
    if confirm := button.get("confirm"):
        for name, limit in CONFIRM.items():
            yield from _text(confirm.get(name), limit, "plain_text" if name != "text" else "")


def _input(block: Json) -> Iterator[str]:
    yield from _text(block.get("label"), LABEL, "plain_text")
    if block.get("element", {}).get("type") != "plain_text_input":
        yield "an element of another kind"


def _text(text: Any, limit: int, kind: str = "") -> Iterator[str]:
    if not isinstance(text, Mapping) or text.get("type") not in ("plain_text", "mrkdwn"):
        yield "no text"
        return
    if kind and text["type"] != kind:
        yield f"no {kind}"
    if "verbatim" in text and text["type"] != "mrkdwn":
        yield "verbatim is for mrkdwn"
    if not 1 <= _length(text.get("text", "")) <= limit:
        yield f"a text of {_length(text.get('text', ''))}, not 1 to {limit}"


def _length(text: str) -> int:
    """Count as a browser does: a character beyond the first 65,536 is two."""
    return len(text.encode("utf-16-le")) // 2
