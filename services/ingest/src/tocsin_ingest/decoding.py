"""From the bytes of a request to what it says: one JSON document, with nothing odd in it."""

import json
import math
import re
import zlib
from collections.abc import Iterator
from typing import Any, NoReturn
from urllib.parse import parse_qsl

MOST_LEVELS = 64
"""Of lists and objects inside each other."""

MOST_DIGITS = 40
"""Of a whole number; every time and count that a sender could mean has far fewer."""

MOST_FIELDS = 1000
"""Of a form."""

FORM = "application/x-www-form-urlencoded"

_INFLATES = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""Content codings, and what zlib calls them; 47 takes either header."""

_STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
_ODD_ESCAPES = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


class UndecodableError(ValueError):
    """A body that says nothing; the message names what is wrong with it."""


class TooBigError(ValueError):
    """A body that is larger than it may be, once it is inflated."""


class UnknownCodingError(ValueError):
    """A body in a coding that nobody here can undo."""


def inflated(body: bytes, coding: str, limit: int) -> bytes:
    """Return the body without its content coding, of `limit` bytes at most.

    Never inflates more than a byte beyond the limit. Raises UnknownCodingError, TooBigError, or
    UndecodableError for a stream that is broken or ends early.
    """
    name = coding.strip().lower()
    if name in ("", "identity"):
        return body
    if name not in _INFLATES:
        raise UnknownCodingError(f"Content-Encoding {coding[:40]!r}: send gzip, deflate or none")
    try:
        return _inflate(body, _INFLATES[name], limit)
    except zlib.error:
        raise UndecodableError(f"the body is no {name} stream") from None


def json_of(body: bytes) -> Any:
    """Return the JSON document of a body.

    Raises UndecodableError for what is no JSON, or not UTF-8, and for what readers of JSON do not
    agree about: names that stand twice, NaN, numbers without an end, half characters and NUL.
    """
    try:
        text = _text(body)
        if body.count(b"[") + body.count(b"{") > MOST_LEVELS:
            _check_depth(body)
        payload = _DECODER.decode(text)
        if _ODD_ESCAPES.search(text):
            _check_characters(payload)
    except ValueError as error:
        raise UndecodableError(f"not JSON: {error}") from None
    return payload


def form_of(body: bytes) -> dict[str, str]:
    """Return the fields of a form as a flat object; raises UndecodableError as for JSON."""
    try:
        fields = parse_qsl(
            _text(body),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
        payload = _object(fields)
        _check_characters(payload)
    except ValueError as error:
        raise UndecodableError(f"not a form: {error}") from None
    return payload


def _inflate(body: bytes, window_bits: int, limit: int) -> bytes:
    stream = zlib.decompressobj(window_bits)
    whole = stream.decompress(body, limit + 1)
    if len(whole) > limit:
        raise TooBigError(f"the inflated body is over {limit} bytes")
    if not stream.eof:
        raise UndecodableError("the compressed body ends too early")
    if stream.unused_data:
        raise UndecodableError("the compressed body goes on after its end")
    return whole


def _text(body: bytes) -> str:
    if not body.strip():
        raise ValueError("the body is empty")
    if body.startswith(_WIDE_MARKS) or b"\0" in body[:2]:
        raise ValueError("the body is UTF-16 or UTF-32, send UTF-8")
    if body.startswith(_MARK):
        raise ValueError("it begins with a byte order mark, send UTF-8 without one")
    if b"\0" in body:
        raise ValueError("it holds a NUL character")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None


def _check_depth(body: bytes) -> None:
    level = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", body)):
        level += 1 if bracket in b"[{" else -1
        if level > MOST_LEVELS:
            raise ValueError(f"nested deeper than {MOST_LEVELS} levels")


def _check_characters(payload: Any) -> None:
    for text in _strings(payload):
        if "\0" in text:
            raise ValueError("a text holds a NUL character")
        if any(map(_is_half, text)):
            raise ValueError("a text holds half a character, a lone surrogate")


def _is_half(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _strings(inner)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the name {name[:40]!r} stands twice in one object")
            seen.add(name)
    return fields


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of over {MOST_DIGITS} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_no_constant,
    parse_float=_finite,
    parse_int=_whole,
)
