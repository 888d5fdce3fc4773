"""What a tool answered, as one text and at most one object, and never longer than wanted."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tocsin_kit.untrusted import clean
from tocsin_mcp.port import CallAnswer


def answer(
    blocks: Sequence[Mapping[str, Any]], structured: Any, *, is_error: bool, limit: int
) -> CallAnswer:
    """Join the blocks of an answer; what is no text is only named.

    An object that is longer than `limit` characters is left out: half an object is none.
    """
    said = clean("\n".join(map(_text, blocks)), limit)
    whole = structured if isinstance(structured, Mapping) else None
    fits = whole is None or len(json.dumps(whole, ensure_ascii=False)) <= limit
    return CallAnswer(
        text=said.text,
        structured=whole if fits else None,
        is_error=is_error,
        truncated=said.truncated or not fits,
    )


def _text(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource_link", "uri": uri}:
            return f"[resource {uri}]"
        case _:
            return f"[{block.get('type', 'something')}, not shown]"
