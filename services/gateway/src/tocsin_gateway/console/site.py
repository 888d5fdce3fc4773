"""The addresses of the console, and what every answer of it carries."""

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tocsin_contracts.roles import Role
from tocsin_gateway.api import Api
from tocsin_gateway.console import rendering
from tocsin_gateway.console.desk import Desk
from tocsin_gateway.console.door import Door
from tocsin_gateway.console.pages import Pages
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.sessions import Sessions
from tocsin_gateway.guard import OPEN_PATHS
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TransientError

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
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
A_YEAR = "public, max-age=31536000, immutable"


class Armoured:
    """Puts the headers on every answer; what says nothing of a cache is kept in none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and the answer back with its headers."""

        async def armoured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-store")
                headers.update(HEADERS)
            await send(message)

        await self._app(scope, receive, armoured)


class Errors:
    """Pages for what went wrong: what it was, and what to do about it."""

    def __init__(self, door: Door, renderer: Renderer) -> None:
        self._door = door
        self._renderer = renderer

    async def refused(self, request: Request, error: Exception) -> Response:
        """Say why there is no such page, or why something was not done."""
        if not isinstance(error, RefusedError):
            raise error
        return self._page(request, error.status, error.view.error, error.view.hint)

    async def unavailable(self, request: Request, error: Exception) -> Response:
        """Say that the store or the bus does not answer."""
        why = f"Part of Tocsin does not answer: {error}"
        hint = "Whether something waits is unknown right now. Reload in a few seconds."
        return self._page(request, 503, why, hint, {"Retry-After": "5"})

    async def no_page(self, request: Request, error: Exception) -> Response:
        """Say that there is nothing at this address."""
        if not isinstance(error, HTTPException):
            raise error
        return self._page(request, error.status_code, error.detail, "", error.headers)

    def _page(
        self,
        request: Request,
        status: int,
        why: str,
        hint: str,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        session = self._door.session(request)
        return self._renderer.page(
            "error.html", session=session, status=status, headers=headers, why=why, hint=hint
        )


async def static(request: Request) -> Response:
    """Return a file that pages ask for; its address changes with it."""
    name = request.path_params["name"]
    kind = rendering.STATIC.get(name)
    if kind is None:
        raise HTTPException(404)
    return Response(rendering.content(name), media_type=kind, headers={"Cache-Control": A_YEAR})


def console(
    api: Api,
    desk: Desk,
    hub: Hub,
    sessions: Sessions,
    *,
    https: bool = False,
    clock: Clock | None = None,
) -> Starlette:
    """Return the console as an application of its own; `https` is how people reach it."""
    renderer = Renderer(clock)
    door = Door(sessions, renderer, https=https)
    pages = Pages(api, desk, hub, renderer)
    errors = Errors(door, renderer)
    one = "/runs/{run_id}"
    return Starlette(
        routes=[
            Route("/login", door.show),
            Route("/login", door.enter, methods=["POST"]),
            Route("/static/{name}", static),
            door.behind("/logout", door.leave, Role.VIEWER, "POST"),
            door.behind("/", pages.inbox, Role.VIEWER),
            door.behind("/events", pages.stream, Role.VIEWER),
            door.behind("/runs", pages.runs, Role.VIEWER),
            door.behind("/runs.json", pages.runs_json, Role.VIEWER),
            door.behind("/runs.csv", pages.runs_csv, Role.VIEWER),
            door.behind(one, pages.run, Role.VIEWER),
            door.behind(f"{one}/events.json", pages.events, Role.VIEWER),
            door.behind(f"{one}/approve", pages.approve, Role.APPROVER, "POST"),
            door.behind(f"{one}/reject", pages.reject, Role.APPROVER, "POST"),
            door.behind(f"{one}/cancel", pages.cancel, Role.OPERATOR, "POST"),
        ],
        middleware=[Middleware(Armoured)],
        exception_handlers={
            RefusedError: errors.refused,
            TransientError: errors.unavailable,
            HTTPException: errors.no_page,
        },
    )


def beside(api: ASGIApp, console: ASGIApp) -> ASGIApp:
    """Put the console beside the API, which keeps its own door and its own words."""

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        is_api = path.startswith("/api/") or path in OPEN_PATHS
        await (api if is_api else console)(scope, receive, send)

    return either
