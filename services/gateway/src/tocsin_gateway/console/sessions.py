"""Who is signed in: a cookie that says so, signed with the token of exactly that person.

Nothing is stored, so every replica knows it; whoever takes a token away ends its sessions.
"""

import base64
import hmac
import json
import secrets
from dataclasses import dataclass
from datetime import timedelta

from pydantic import TypeAdapter, ValidationError

from tocsin_contracts.roles import Role
from tocsin_gateway import refusals
from tocsin_gateway.access import Access
from tocsin_kit.clock import Clock, SystemClock

_Claim = TypeAdapter(tuple[str, float, str])
MOST_CHARACTERS = 1024


@dataclass(frozen=True, slots=True)
class Session:
    """One person at one browser; `csrf` is what only pages that were made for it hold."""

    who: str
    csrf: str
    role: Role


class Sessions:
    """Opens sessions for so many hours, and recognises them."""

    def __init__(self, access: Access, hours: float, clock: Clock | None = None) -> None:
        self.access = access
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


def _sign(key: bytes, purpose: str, text: str) -> str:
    return hmac.new(key, f"{purpose}|{text}".encode(), "sha256").hexdigest()


def same(given: str, known: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())
