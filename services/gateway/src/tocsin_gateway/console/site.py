"""The addresses of the console, and its pages for what went wrong."""

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tocsin_contracts.roles import Role
from tocsin_gateway.amendments import Amendments
from tocsin_gateway.api import Api
from tocsin_gateway.console import rendering
from tocsin_gateway.console.acting import Acting, Operations, Outcomes
from tocsin_gateway.console.books import Books
from tocsin_gateway.console.desk import Desk
from tocsin_gateway.console.door import Door
from tocsin_gateway.console.ledgers import Ledgers
from tocsin_gateway.console.operating import Letters, Operating, Statuses
from tocsin_gateway.console.pages import Pages
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.sessions import Sessions
from tocsin_gateway.console.watching import Watching
from tocsin_gateway.guard import OPEN_PATHS
from tocsin_gateway.headers import Armoured
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TransientError

A_YEAR = "public, max-age=31536000, immutable"


class Errors:
    """Pages for what went wrong: what it was, and what to do about it."""

    def __init__(self, door: Door, renderer: Renderer) -> None:
        self._door = door
        self._renderer = renderer

    async def refused(self, request: Request, error: Exception) -> Response:
        """Say why there is no such page, or why something was not done."""
        if not isinstance(error, RefusedError):
            raise error
        told = error.view
        return self._page(request, error.status, told.error, told.hint, error.headers)

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
    sessions: Sessions,
    *,
    amendments: Amendments,
    hub: Hub,
    books: Books,
    statuses: Statuses,
    letters: Letters,
    operations: Operations,
    outcomes: Outcomes,
    clock: Clock | None = None,
) -> Starlette:
    """Return the console as an application of its own."""
    renderer = Renderer(clock)
    door = Door(sessions, renderer)
    errors = Errors(door, renderer)
    pages = Pages(desk, outcomes, hub, renderer)
    parts = (
        pages,
        Acting(api, amendments, operations, outcomes, pages.shown),
        Watching(hub, renderer),
        Operating(statuses, letters, renderer),
        Ledgers(books, outcomes, hub, renderer, clock),
    )
    return Starlette(
        routes=[
            Route("/login", door.show),
            Route("/login", door.enter, methods=["POST"]),
            Route("/static/{name}", static),
            door.behind("/logout", door.leave, Role.VIEWER, "POST"),
            *(route for part in parts for route in part.routes(door)),
        ],
        exception_handlers={
            RefusedError: errors.refused,
            TransientError: errors.unavailable,
            HTTPException: errors.no_page,
        },
    )


class Beside:
    """The console beside the API, which keeps its own door and its own words."""

    def __init__(self, api: ASGIApp, console: ASGIApp) -> None:
        self.api = api
        self.console = console

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the one answer whose address it is."""
        path = scope.get("path", "")
        is_api = path.startswith("/api/") or path in OPEN_PATHS
        await (self.api if is_api else self.console)(scope, receive, send)


def beside(api: ASGIApp, console: ASGIApp, *, https: bool = False) -> Armoured:
    """Return both as one application, armoured; `https` is how people reach it."""
    return Armoured(Beside(api, console), https=https)
