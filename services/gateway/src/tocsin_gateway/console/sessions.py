"""Who is signed in: a cookie that says so, signed with the token of exactly that person.

Nothing is stored, so every replica knows it; whoever takes a token away ends its sessions.
"""

import base64
import hmac
import json
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from pydantic import TypeAdapter, ValidationError
from starlette.requests import HTTPConnection

from tocsin_contracts.roles import Role
from tocsin_gateway import refusals
from tocsin_gateway.access import Access, Principal
from tocsin_kit.clock import Clock, SystemClock

_Claim = TypeAdapter(tuple[str, float, str])
MOST_CHARACTERS = 1024
FORM_SECONDS = 12 * 3600
_FORM_COOKIE = re.compile(r"[\w-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Session:
    """One person at one browser; `csrf` is what only pages that were made for it hold.

    `fresh` is the form cookie that the browser has to get for it, if it has none.
    """

    who: str
    csrf: str
    role: Role
    proxied: bool = False
    fresh: str = ""

    @property
    def principal(self) -> Principal:
        """Who it is for the rest of the gateway."""
        return Principal(self.who, self.role)


@dataclass(frozen=True, slots=True)
class Form:
    """A browser before anybody signed in: its cookie, and what a form for it holds."""

    cookie: str
    csrf: str


class Sessions:
    """Opens sessions for so many hours, and recognises them.

    Over https no cookie can come from a sibling domain: that is what their prefix says.
    """

    def __init__(
        self, access: Access, hours: float, clock: Clock | None = None, *, https: bool = False
    ) -> None:
        self.access = access
        self.https = https
        self.cookie, self.form_cookie = (
            f"{'__Host-' if https else ''}tocsin_{name}" for name in ("session", "form")
        )
        self._time = timedelta(hours=hours)
        self._clock = clock or SystemClock()

    @property
    def seconds(self) -> int:
        """How long a session lasts."""
        return int(self._time.total_seconds())

    def open(self, who: str) -> str:
        """Return the cookie of a new session of somebody who showed their token."""
        key = self.access.key(who)
        if key is None:
            raise refusals.unknown_token()
        until = (self._clock.now() + self._time).timestamp()
        claim = json.dumps([who, until, secrets.token_urlsafe(9)])
        text = base64.urlsafe_b64encode(claim.encode()).decode()
        return f"{text}.{_sign(key, 'session', text)}"

    def of(self, cookie: str) -> Session | None:
        """Return whose cookie it is; None for one that is over, or that we did not make."""
        text, _, signature = cookie[:MOST_CHARACTERS].rpartition(".")
        try:
            who, until, _ = _Claim.validate_json(base64.urlsafe_b64decode(text.encode()))
        except (ValueError, ValidationError):
            return None
        key = self.access.key(who)
        if key is None or until < self._clock.now().timestamp():
            return None
        if not same(signature, _sign(key, "session", text)):
            return None
        return Session(who, _sign(key, "form", text), self.access.role(who))

    def at(self, connection: HTTPConnection) -> Session | None:
        """Return who is at a browser: whom a trusted proxy names, or whose cookie it has."""
        person = self.access.proxied(connection)
        if person is None:
            return self.of(connection.cookies.get(self.cookie, ""))
        form = self.form(connection, person.id)
        fresh = "" if connection.cookies.get(self.form_cookie) == form.cookie else form.cookie
        return Session(person.id, form.csrf, person.role, proxied=True, fresh=fresh)

    def signed_in(self, connection: HTTPConnection) -> Principal | None:
        """Return whose cookie a browser has, for addresses of the API."""
        session = self.of(connection.cookies.get(self.cookie, ""))
        return session.principal if session else None

    def form(self, connection: HTTPConnection, who: str = "") -> Form:
        """Return what forms for a browser are bound to: its form cookie, a new one if needed."""
        given = connection.cookies.get(self.form_cookie, "")
        cookie = given if _FORM_COOKIE.fullmatch(given) else secrets.token_urlsafe(32)
        return Form(cookie, _sign(cookie.encode(), "form", who))


def _sign(key: bytes, purpose: str, text: str) -> str:
    return hmac.new(key, f"{purpose}|{text}".encode(), "sha256").hexdigest()


def same(given: str, known: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())
