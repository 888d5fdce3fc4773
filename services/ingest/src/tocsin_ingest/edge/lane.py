"""The short way in: what nearly every request asks for goes past the router and its layers."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tocsin_ingest.edge import answers
from tocsin_ingest.edge.answers import RefusedError

WEBHOOK = "/webhook/"

Take = Callable[[Request], Awaitable[Response]]
"""Answers the request of a source, or of one of its instances, or raises RefusedError."""


class Lane:
    """Takes `POST /webhook/{source}` and `/webhook/{source}/{instance}`; the rest is another's."""

    def __init__(self, take: Take, rest: Starlette) -> None:
        self._take = take
        self.rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        params = _params(scope)
        if params is None:
            await self.rest(scope, receive, send)
            return
        scope["path_params"] = params
        request = Request(scope, receive)
        try:
            response = await self._take(request)
        except RefusedError as error:
            response = await answers.refuse(request, error)
        await response(scope, receive, send)


def _params(scope: MutableMapping[str, Any]) -> dict[str, str] | None:
    path: str = scope.get("path", "")
    if not path.startswith(WEBHOOK) or scope["type"] != "http" or scope["method"] != "POST":
        return None
    source, slash, instance = path.removeprefix(WEBHOOK).partition("/")
    if not source or "/" in instance or (slash and not instance):
        return None
    return {"source": source, "instance": instance} if instance else {"source": source}
