"""The tokens of a GitHub App: short-lived, for one repository, with no more rights than asked."""

import asyncio
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import jwt
from jwt.algorithms import RSAAlgorithm
from pydantic import AwareDatetime, BaseModel

from tocsin_gitops.hosts.client import ForgeClient, at
from tocsin_gitops.hosts.failures import ConflictError
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError

READ = {"contents": "read", "metadata": "read", "pull_requests": "read"}
WRITE = {"contents": "write", "metadata": "read", "pull_requests": "write"}
AHEAD = timedelta(minutes=5)
"""How long before its end a token is given out no more."""

_BACKDATED, _VALID = timedelta(seconds=60), timedelta(minutes=9)


@functools.cache
def _read(key: str) -> Any:
    """Reading proves the key, which takes twenty times as long as to sign with it."""
    return RSAAlgorithm(RSAAlgorithm.SHA256).prepare_key(key)


@dataclass(frozen=True, slots=True)
class AppKey:
    """Speaks for the App itself; PermanentError at once for a key that signs nothing."""

    app_id: str
    variable: str
    key: str = field(repr=False)
    rights: Mapping[str, str]
    clock: Clock

    def __post_init__(self) -> None:
        self._signed()

    @property
    def needs(self) -> str:
        """What has to be so at GitHub, in words for a person."""
        rights = ", ".join(f"{name}: {right}" for name, right in sorted(self.rights.items()))
        return (
            f"the GitHub App {self.app_id}, whose key is in {self.variable}, has to be installed "
            f"on the repository with {rights}"
        )

    async def token(self, repository: str) -> str:
        """Return a token that is good for ten minutes, and only to ask for another."""
        del repository
        return self._signed()

    async def account(self, repository: str) -> str:
        """Return where the App shows itself."""
        del repository
        return "/app"

    def refused(self, repository: str) -> bool:
        """Return False: the same key would sign the same again."""
        del repository
        return False

    def _signed(self) -> str:
        now = self.clock.now()
        claims = {"iss": self.app_id, "iat": now - _BACKDATED, "exp": now + _VALID}
        try:
            return jwt.encode(claims, _read(self.key), algorithm="RS256")
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise PermanentError(f"{self.variable} holds no private RSA key in PEM") from error


class _Installation(BaseModel):
    id: int
    app_slug: str


class _Minted(BaseModel):
    token: str
    expires_at: AwareDatetime


@dataclass(slots=True)
class _Held:
    token: str = field(default="", repr=False)
    ends: datetime | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)


class AppTokens:
    """Mints a token for each repository and keeps it until five minutes before its end.

    `client` asks as the App itself, with `key` as its tokens.
    """

    def __init__(self, client: ForgeClient, key: AppKey) -> None:
        self._client = client
        self._key = key
        self._held: dict[str, _Held] = {}

    @property
    def needs(self) -> str:
        """What has to be so at GitHub, in words for a person."""
        return self._key.needs

    async def token(self, repository: str) -> str:
        """Return a token for this repository and no other."""
        held = self._held.setdefault(repository, _Held())
        async with held.busy:
            if held.ends is None or self._key.clock.now() >= held.ends - AHEAD:
                minted = await self._mint(repository)
                held.token, held.ends = minted.token, minted.expires_at
            return held.token

    async def account(self, repository: str) -> str:
        """Return where GitHub shows the bot that the App writes as."""
        installation = await self._installation(repository)
        return at("users", f"{installation.app_slug}[bot]")

    def refused(self, repository: str) -> bool:
        """Forget the token; return True: a new one is refused for a second, an old one is gone."""
        self._held.pop(repository, None)
        return True

    async def _mint(self, repository: str) -> _Minted:
        installation = await self._installation(repository)
        path = at("app", "installations", installation.id, "access_tokens")
        name = repository.rpartition("/")[2]
        asked = {"repositories": [name], "permissions": dict(self._key.rights)}
        try:
            return await self._client.send(_Minted, "POST", repository, path, asked)
        except ConflictError as error:
            raise PermanentError(f"{error}; {self.needs}") from error

    async def _installation(self, repository: str) -> _Installation:
        path = at("repos", *repository.split("/"), "installation")
        return await self._client.get(_Installation, repository, path)
