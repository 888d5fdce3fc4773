"""What a proxy says of a person, signed: a JWT that is verified against the keys of a file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jwt

from tocsin_kit.errors import PermanentError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""Signatures by a key that only the issuer has: no key of the file can be used as a password."""

LEEWAY_SECONDS = 30
_VERIFIED = (True, "true")
"""Some issuers write the claim as a text."""

_ID = re.compile(r"[!-+\--~]{1,200}")
"""An id: visible ASCII without a comma, by which lists are separated."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom a proxy named."""

    id: str
    groups: tuple[str, ...] = ()


def named(user: object, groups: Sequence[object]) -> Person | None:
    """Return the person of these words; None for what cannot be an id."""
    if not isinstance(user, str) or not _ID.fullmatch(user):
        return None
    told = (group.strip() for group in groups if isinstance(group, str))
    return Person(user, tuple(group for group in told if group))


class Assertions:
    """Verifies what stands in one header. The file is read again when it changes.

    PermanentError at the start if it cannot be read; later the last good keys stay.
    """

    def __init__(
        self,
        header: str,
        keys: Path,
        *,
        audience: str,
        issuer: str = "",
        user_claim: str = "email",
        groups_claim: str = "groups",
    ) -> None:
        self.header = header
        self._file = keys
        self._audience = audience
        self._issuer = issuer
        self._user_claim = user_claim
        self._groups_claim = groups_claim
        self._read_at = 0
        self._keys = self._read()

    def person(self, text: str) -> Person | None:
        """Return whom a JWT names; None unless all of it is right."""
        try:
            claims = self._verified(text.removeprefix("Bearer "))
        except (jwt.PyJWTError, KeyError, ValueError):
            return None
        if claims.get("email_verified", True) not in _VERIFIED:
            return None
        groups = claims.get(self._groups_claim, ())
        return named(claims.get(self._user_claim), groups if isinstance(groups, list) else [groups])

    def _verified(self, text: str) -> dict[str, object]:
        key = self._key(jwt.get_unverified_header(text).get("kid"))
        claims: dict[str, object] = jwt.decode(
            text,
            key,
            algorithms=ALGORITHMS,
            audience=self._audience,
            issuer=self._issuer or None,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "aud"]},
        )
        return claims

    def _key(self, kid: str | None) -> jwt.PyJWK:
        self._renew()
        if kid is None and len(self._keys.keys) == 1:
            return self._keys.keys[0]
        return self._keys[kid or ""]

    def _renew(self) -> None:
        try:
            changed = self._file.stat().st_mtime_ns != self._read_at
            self._keys = self._read() if changed else self._keys
        except (OSError, PermanentError):
            return

    def _read(self) -> jwt.PyJWKSet:
        try:
            written = self._file.stat().st_mtime_ns
            keys = jwt.PyJWKSet.from_json(self._file.read_text("utf-8"))
        except (OSError, ValueError, jwt.PyJWTError, AttributeError) as error:
            raise PermanentError(
                f"TOCSIN_PROXY_JWT_KEYS: {str(self._file)!r} is no JWKS file: {error}"
            ) from error
        self._read_at = written
        return keys
