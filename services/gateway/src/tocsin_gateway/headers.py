"""What every answer tells a browser: to run no foreign script, to show us in no frame."""

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
ONLY_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
_ANSWERS = ("http.response.start", "websocket.http.response.start")


class Armoured:
    """Puts the headers on every answer; what says nothing of a cache is kept in none."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self.app = app
        self._headers = {**HEADERS, **(ONLY_HTTPS if https else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and the answer back with its headers."""

        async def armoured(message: Message) -> None:
            if message["type"] in _ANSWERS:
                headers = MutableHeaders(raw=message["headers"])
                headers.setdefault("Cache-Control", "no-store")
                headers.update(self._headers)
            await send(message)

        await self.app(scope, receive, armoured)
