"""Signing in and out, and the way of everybody else to it."""

import re
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from tocsin_contracts.roles import Role
from tocsin_gateway import refusals
from tocsin_gateway.console import forms
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.sessions import FORM_SECONDS, Session, Sessions
from tocsin_gateway.refusals import RefusedError

Page = Callable[[Request, Session], Awaitable[Response]]
Handler = Callable[[Request], Awaitable[Response]]


class Behind(Route):
    """An address for those who are signed in and have a role."""

    def __init__(self, path: str, handler: Handler, *, role: Role, method: str) -> None:
        super().__init__(path, handler, methods=[method])
        self.role = role


class Door:
    """Lets people in by their API token, and keeps strangers out of every page."""

    def __init__(self, sessions: Sessions, renderer: Renderer) -> None:
        self._sessions = sessions
        self._renderer = renderer

    def session(self, request: Request) -> Session | None:
        """Return who asks, if they are signed in."""
        return self._sessions.at(request)

    def behind(self, path: str, page: Page, role: Role, method: str = "GET") -> Behind:
        """Return the address of a page for those who have a role; strangers are led to the door.

        A role that is not enough, or a page of somebody else that made the browser ask, is a
        RefusedError.
        """

        async def guarded(request: Request) -> Response:
            session = self.session(request)
            if session is None:
                return self._led_here(request)
            self._sessions.access.require_own(request)
            self._sessions.access.require(session.principal, role)
            answer = await page(request, session)
            if session.fresh:
                self._set(answer, self._sessions.form_cookie, session.fresh, FORM_SECONDS)
            return answer

        return Behind(path, guarded, role=role, method=method)

    def _led_here(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return self._form(request, 401, "Your session is over. Nothing was decided.")
        asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        to = "/login" if asked == "/" else f"/login?next={quote(asked, safe='')}"
        return RedirectResponse(to, 303)

    async def show(self, request: Request) -> Response:
        """Show the form, or the console to whom is in already."""
        after = _within(request.query_params.get("next", ""))
        return RedirectResponse(after, 303) if self.session(request) else self._form(request)

    async def enter(self, request: Request) -> Response:
        """Let in who shows a token that is known."""
        fields = await forms.read(request)
        try:
            self._sessions.access.require_own(request)
            forms.check(fields, self._sessions.form(request).csrf)
            holder = self._sessions.access.holder(fields.get("token", "").strip())
            if holder is None:
                raise refusals.unknown_token()
        except RefusedError as error:
            return self._form(request, error.status, f"{error.view.error.capitalize()}.")
        answer = RedirectResponse(_within(fields.get("next", "")), 303)
        self._set(
            answer, self._sessions.cookie, self._sessions.open(holder.id), self._sessions.seconds
        )
        return answer

    async def leave(self, request: Request, session: Session) -> Response:
        """Forget who is at this browser."""
        forms.check(await forms.read(request), session.csrf)
        if session.proxied:
            raise refusals.not_ours()
        answer = RedirectResponse("/login", 303)
        self._set(answer, self._sessions.cookie, "", 0)
        return answer

    def _form(self, request: Request, status: int = 200, error: str = "") -> Response:
        form = self._sessions.form(request)
        after = _within(request.query_params.get("next", ""))
        answer = self._renderer.page(
            "login.html", status=status, csrf=form.csrf, error=error, after=after
        )
        self._set(answer, self._sessions.form_cookie, form.cookie, FORM_SECONDS)
        return answer

    def _set(self, answer: Response, name: str, value: str, seconds: int) -> None:
        answer.set_cookie(
            name,
            value,
            max_age=seconds,
            httponly=True,
            samesite="lax",
            secure=self._sessions.https,
        )


def _within(path: str) -> str:
    """Return where to go after signing in: a page of ours, whatever was asked for."""
    inside = re.fullmatch(r"/(?:runs(?:[/?][\w./?&=%+~-]*)?)?", path, re.ASCII)
    return path if inside else "/"
