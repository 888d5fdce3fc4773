"""Clicks and messages by HTTP, each checked on its raw bytes before it is read."""

import asyncio
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tocsin_kit.clock import Clock
from tocsin_kit.errors import FullError, PermanentError
from tocsin_notifier.channels.slack import signature
from tocsin_notifier.channels.slack.clicks import Clicks
from tocsin_notifier.channels.slack.questions import Questions

PATH, EVENTS = "/slack/interactivity", "/slack/events"
MAX_BODY = 256 * 1024
READ_SECONDS = 2.0
"""Slack waits 3 s for the answer."""


class Endpoint:
    """Answers within 3 s; what a click or a question leads to happens afterwards."""

    def __init__(self, secret: str, clicks: Clicks, questions: Questions, clock: Clock) -> None:
        self._secret = secret.encode()
        self._clicks = clicks
        self._questions = questions
        self._clock = clock

    async def clicked(self, request: Request) -> Response:
        """401 unless Slack signed it, 413 and 408 for what is too big or slow, 400 for nonsense."""
        return await self._answer(request, self._click)

    async def told(self, request: Request) -> Response:
        """Answer what Slack tells of a message, by the same rules."""
        return await self._answer(request, self._question)

    async def _answer(self, request: Request, take: Callable[[bytes], Response]) -> Response:
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await _bounded(request)
        except (TimeoutError, ClientDisconnect):
            return _said(408, "the body did not come in time")
        if body is None:
            return _said(413, f"the body is over {MAX_BODY} bytes")
        if not self._genuine(request, body):
            return _said(401, "not signed by Slack, or not just now")
        return _taken(take, body)

    def _click(self, body: bytes) -> Response:
        reply = self._clicks.take(_payload(body))
        return JSONResponse(reply) if reply else Response(status_code=200)

    def _question(self, body: bytes) -> Response:
        challenge = self._questions.take(body)
        return JSONResponse({"challenge": challenge}) if challenge else Response(status_code=200)

    def _genuine(self, request: Request, body: bytes) -> bool:
        given = request.headers
        return signature.genuine(
            self._secret,
            body,
            given.getlist(signature.TIMESTAMP),
            given.getlist(signature.SIGNATURE),
            self._clock.now(),
        )


def build(endpoint: Endpoint) -> Starlette:
    """Return the HTTP application."""
    return Starlette(
        routes=[
            Route(PATH, endpoint.clicked, methods=["POST"]),
            Route(EVENTS, endpoint.told, methods=["POST"]),
        ]
    )


def _taken(take: Callable[[bytes], Response], body: bytes) -> Response:
    try:
        return take(body)
    except PermanentError as error:
        return _said(400, str(error))
    except FullError as error:
        return _said(503, str(error))


async def _bounded(request: Request) -> bytes | None:
    """Read the body; None for one that is too big, of which no more is read."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:12]) > MAX_BODY:
        return None
    kept = bytearray()
    async for chunk in request.stream():
        kept += chunk
        if len(kept) > MAX_BODY:
            return None
    return bytes(kept)


def _payload(body: bytes) -> str:
    """Return the JSON in the form that Slack sends; PermanentError where there is none."""
    try:
        form = parse_qs(body.decode(), max_num_fields=10)
    except ValueError:
        raise PermanentError("slack: the body is no form") from None
    given = form.get("payload", [])
    if len(given) != 1:
        raise PermanentError("slack: the form has no payload")
    return given[0]


def _said(status: int, error: str) -> JSONResponse:
    return JSONResponse({"error": error}, status)
