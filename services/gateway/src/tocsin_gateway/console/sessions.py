"""Who is signed in: a cookie that says so, signed with the token of exactly that person.

Nothing is stored, so every replica knows it; whoever takes a token away ends its sessions.
"""

import base64
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from pydantic import SecretStr, TypeAdapter, ValidationError

from tocsin_kit.clock import Clock, SystemClock

_Claim = TypeAdapter(tuple[str, float, str])
MOST_CHARACTERS = 1024


@dataclass(frozen=True, slots=True)
class Session:
    """One person at one browser; `csrf` is what only pages that were made for it hold."""

    who: str
    csrf: str


class Sessions:
    """Opens sessions for so many hours, and recognises them."""

    def __init__(
        self, tokens: Mapping[str, SecretStr], hours: float, clock: Clock | None = None
    ) -> None:
        self._keys = {who: token.get_secret_value().encode() for who, token in tokens.items()}
        self._time = timedelta(hours=hours)
        self._clock = clock or SystemClock()

    @property
    def seconds(self) -> int:
        """How long a session lasts."""
        return int(self._time.total_seconds())

    def open(self, who: str) -> str:
        """Return the cookie of a new session of somebody who showed their token."""
        until = (self._clock.now() + self._time).timestamp()
        claim = json.dumps([who, until, secrets.token_urlsafe(9)])
        text = base64.urlsafe_b64encode(claim.encode()).decode()
        return f"{text}.{self._sign(who, 'session', text)}"

    def of(self, cookie: str) -> Session | None:
        """Return whose cookie it is; None for one that is over, or that we did not make."""
        text, _, signature = cookie[:MOST_CHARACTERS].rpartition(".")
        try:
            who, until, _ = _Claim.validate_json(base64.urlsafe_b64decode(text.encode()))
        except (ValueError, ValidationError):
            return None
        if who not in self._keys or until < self._clock.now().timestamp():
            return None
        if not same(signature, self._sign(who, "session", text)):
            return None
        return Session(who=who, csrf=self._sign(who, "form", text))

    def _sign(self, who: str, purpose: str, text: str) -> str:
        return hmac.new(self._keys[who], f"{purpose}|{text}".encode(), "sha256").hexdigest()


def same(given: str, known: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())
