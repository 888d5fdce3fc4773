"""Strangers and floods end at the door: before any of a request's body is kept."""

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tocsin_gateway import refusals
from tocsin_gateway.access import Access, SignedIn, nobody
from tocsin_gateway.refusals import RefusedError

MAX_BODY = 64 * 1024
MAX_UPLOAD = 10 * 1024 * 1024
UPLOADS = "/attachments"
"""How the addresses end that take files."""

OPEN_PATHS = ("/openapi.json",)


class Guard:
    """Lets in whom access knows, and reads 64 KiB of a body at most; more only of files."""

    def __init__(self, app: ASGIApp, access: Access, signed_in: SignedIn = nobody) -> None:
        self._app = app
        self._access = access
        self._signed_in = signed_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a stranger at once; pass everybody else on with a bounded body."""
        if scope["type"] == "lifespan" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(HTTPConnection(scope))
        if refusal is None:
            await self._app(scope, bounded(receive, _most(scope["path"])), send)
            return
        answer = JSONResponse(
            refusal.view.model_dump(), refusal.status, headers={"Connection": "close"}
        )
        await answer(scope, receive, send)

    def _refusal(self, asked: HTTPConnection) -> RefusedError | None:
        try:
            self._access.admit(asked, self._signed_in)
        except RefusedError as error:
            return error
        length = asked.headers.get("content-length", "0")
        most = _most(asked.scope["path"])
        if not length.isdigit() or int(length) > most:
            return refusals.too_big(most)
        return None


def _most(path: str) -> int:
    return MAX_UPLOAD if path.endswith(UPLOADS) else MAX_BODY


def bounded(receive: Receive, most: int = MAX_BODY) -> Receive:
    """Return what reads at most so many bytes of a body, and raises HTTPException beyond."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise HTTPException(413, f"the body is over {most} bytes")
        return message

    return counted
