"""Signing in and out, and the way of everybody else to it."""

import re
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tocsin_gateway.console import forms
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.sessions import Session, Sessions
from tocsin_gateway.refusals import RefusedError

COOKIE = "tocsin_session"
FORM_COOKIE = "tocsin_form"
FORM_SECONDS = 3600

Page = Callable[[Request, Session], Awaitable[Response]]
Handler = Callable[[Request], Awaitable[Response]]


class Door:
    """Lets people in by their API token, and keeps strangers out of every page."""

    def __init__(
        self,
        sessions: Sessions,
        renderer: Renderer,
        principal: Callable[[str], str],
        *,
        https: bool,
    ) -> None:
        self._sessions = sessions
        self._renderer = renderer
        self._principal = principal
        self._https = https

    def session(self, request: Request) -> Session | None:
        """Return who asks, if they are signed in."""
        return self._sessions.of(request.cookies.get(COOKIE, ""))

    def behind(self, page: Page) -> Handler:
        """Return the page for those who are signed in; others are led to the door."""

        async def guarded(request: Request) -> Response:
            session = self.session(request)
            if session:
                return await page(request, session)
            if request.method != "GET":
                return self._form(request, 401, "Your session is over. Nothing was decided.")
            asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            to = "/login" if asked == "/" else f"/login?next={quote(asked, safe='')}"
            return RedirectResponse(to, 303)

        return guarded

    async def show(self, request: Request) -> Response:
        """Show the form, or the console to whom is in already."""
        after = _within(request.query_params.get("next", ""))
        return RedirectResponse(after, 303) if self.session(request) else self._form(request)

    async def enter(self, request: Request) -> Response:
        """Let in who shows a token that is known."""
        fields = await forms.read(request)
        try:
            forms.check(fields, request.cookies.get(FORM_COOKIE, ""))
            who = self._principal(fields.get("token", "").strip())
        except RefusedError as error:
            return self._form(request, error.status, f"{error.view.error.capitalize()}.")
        answer = RedirectResponse(_within(fields.get("next", "")), 303)
        self._set(answer, COOKIE, self._sessions.open(who), self._sessions.seconds)
        return answer

    async def leave(self, request: Request, session: Session) -> Response:
        """Forget who is at this browser."""
        forms.check(await forms.read(request), session.csrf)
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="lax", secure=self._https)
        return answer

    def _form(self, request: Request, status: int = 200, error: str = "") -> Response:
        csrf = request.cookies.get(FORM_COOKIE, "")
        csrf = csrf if re.fullmatch(r"[\w-]{32,64}", csrf, re.ASCII) else secrets.token_urlsafe(32)
        after = _within(request.query_params.get("next", ""))
        answer = self._renderer.page(
            "login.html", status=status, csrf=csrf, error=error, after=after
        )
        self._set(answer, FORM_COOKIE, csrf, FORM_SECONDS)
        return answer

    def _set(self, answer: Response, name: str, value: str, seconds: int) -> None:
        answer.set_cookie(
            name, value, max_age=seconds, httponly=True, samesite="lax", secure=self._https
        )


def _within(path: str) -> str:
    """Return where to go after signing in: a page of ours, whatever was asked for."""
    inside = re.fullmatch(r"/(?:runs(?:[/?][\w./?&=%+~-]*)?)?", path, re.ASCII)
    return path if inside else "/"
