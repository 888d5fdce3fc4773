"""Read a request's body within bounds of size and time, and turn it into what it says."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request

from tocsin_ingest import decoding
from tocsin_ingest.edge.answers import BAD_REQUEST, RefusedError
from tocsin_ingest.edge.counting import Reason

_MULTIPART = "multipart/form-data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one request may hold, how long it may take, and how many are read at once.

    `per_sender` are those of one sender; without a number they are a quarter of all.
    """

    body_bytes: int = 1024 * 1024
    read_seconds: float = 10
    in_flight: int = 256
    per_sender: int | None = None

    @property
    def share(self) -> int:
        """How many requests of one sender are worked on at once."""
        return max(1, self.in_flight // 4) if self.per_sender is None else self.per_sender


async def read(request: Request, headers: Mapping[str, str], limits: Limits) -> bytes:
    """Return the body as it was sent; RefusedError if it is too big, too slow, or breaks off."""
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared[:20]) > limits.body_bytes:
        raise _too_big(limits.body_bytes)
    try:
        async with asyncio.timeout(limits.read_seconds):
            return await _whole(request, limits.body_bytes)
    except TimeoutError:
        error = f"the body took over {limits.read_seconds:g} s"
        raise RefusedError(408, Reason.TOO_SLOW, error, "send the request again") from None
    except ClientDisconnect:
        error, hint = "the sender hung up", "send the request again"
        raise RefusedError(BAD_REQUEST, Reason.HUNG_UP, error, hint) from None


async def _whole(request: Request, limit: int) -> bytes:
    chunks: list[bytes] = []
    room, more = limit, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunks.append(message.get("body", b""))
        room -= len(chunks[-1])
        if room < 0:
            raise _too_big(limit)
        more = message.get("more_body", False)
    return b"".join(chunks)


def payload_of(
    headers: Mapping[str, str], body: bytes, limits: Limits, *, takes_forms: bool
) -> Any:
    """Return what the body says; RefusedError names what is wrong with it."""
    try:
        plain = decoding.inflated(body, headers.get("content-encoding", ""), limits.body_bytes)
        if _is_form(headers, plain, takes_forms=takes_forms):
            return decoding.form_of(plain)
        return decoding.json_of(plain)
    except decoding.TooBigError as error:
        raise RefusedError(413, Reason.TOO_BIG, str(error), "send fewer alerts") from None
    except decoding.UnknownCodingError as error:
        hint = "send one JSON object"
        raise RefusedError(415, Reason.UNKNOWN_CODING, str(error), hint) from None
    except decoding.UndecodableError as error:
        hint = "send one JSON object"
        raise RefusedError(BAD_REQUEST, Reason.UNDECODABLE, str(error), hint) from None


def _is_form(headers: Mapping[str, str], body: bytes, *, takes_forms: bool) -> bool:
    """Whether the body is a form; JSON is called one by whatever sends it without a thought."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    is_form = kind == decoding.FORM and not body.lstrip().startswith((b"{", b"["))
    if kind == _MULTIPART or (is_form and not takes_forms):
        raise decoding.UnknownCodingError(f"Content-Type {kind!r}: this source takes JSON")
    return is_form


def _too_big(limit: int) -> RefusedError:
    error = f"the body is over {limit} bytes"
    return RefusedError(413, Reason.TOO_BIG, error, "send fewer alerts")
