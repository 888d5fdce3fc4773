"""A GitHub for tests: its REST API over a real bare repository, with accounts and one App."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import jwt

from tocsin_testing.forges.github_answers import (
    DESCRIPTION,
    Route,
    not_found,
    refused,
    routed,
    shown,
    time,
)
from tocsin_testing.forges.github_git import GitHubGit
from tocsin_testing.forges.github_pulls import GitHubPulls
from tocsin_testing.forges.hosting import Hosting, Person
from tocsin_testing.forges.loose import Loose
from tocsin_testing.forges.openapi import Json
from tocsin_testing.forges.web import Answer, Asked, RefusedError

APP, SLUG, INSTALLATION = "123", "tocsin-app", 9
APP_BOT = Person(43, f"{SLUG}[bot]")
LONGEST = 600
"""Seconds that an App may speak for itself with one token."""


@dataclass
class FakeGitHub(Hosting):
    """One repository; `asked` keeps every request, without its token.

    `public_key` is that of the App, and `minted` keeps what its tokens were asked with.
    """

    bare: Loose
    public_key: str = ""
    prefix: str = "/api/v3"
    asked: list[Asked] = field(default_factory=list)
    minted: list[Json] = field(default_factory=list)
    ends: dict[str, tuple[Person, datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._outside: list[Route] = [
            ("GET", "user", self.user),
            ("GET", "users/(.+)", self.bot),
            ("GET", f"repos/{self.name}/installation", self.installation),
            ("POST", rf"app/installations/{INSTALLATION}/access_tokens", self.mint),
        ]
        self._inside = [*GitHubGit(self.bare).routes(), *GitHubPulls(self).routes()]

    @property
    def writes(self) -> list[str]:
        """What was asked that was not only a look."""
        return [f"{a.method} {'/'.join(a.path)}" for a in self.asked if a.method != "GET"]

    def answer(self, asked: Asked) -> Answer:
        """Answer a request; one about another repository finds nothing."""
        self.asked.append(asked)
        path = "/".join(asked.path)
        inside = path.removeprefix(f"repos/{self.name}/")
        if inside in (path, "installation"):
            return routed(self._outside, asked, path)
        self.who(asked.token) if asked.method == "GET" else self.writer(asked.token)
        return routed(self._inside, asked, inside)

    def who(self, token: str) -> Person:
        """Return whose token it is, unless its time is over."""
        if token not in self.ends:
            return super().who(token)
        person, end = self.ends[token]
        if end <= self.now():
            raise RefusedError(401, "Bad credentials")
        return person

    def user(self, asked: Asked) -> Answer:
        """Show whose the token is; that of an App is nobody's."""
        person = self.who(asked.token)
        if asked.token in self.ends:
            return refused(403, "Resource not accessible by integration")
        return shown("simple-user", id=person.id, login=person.login)

    def bot(self, asked: Asked, login: str) -> Answer:
        """Show the account that the App writes as."""
        self.who(asked.token)
        if login != APP_BOT.login:
            return not_found()
        return shown("simple-user", id=APP_BOT.id, login=login, type="Bot")

    def installation(self, asked: Asked) -> Answer:
        """Show where the App is installed."""
        self._check(asked.token)
        account = DESCRIPTION.example("simple-user", login=self.name.partition("/")[0])
        known = {"id": INSTALLATION, "app_id": int(APP), "app_slug": SLUG}
        return shown("installation", account=account, **known)

    def mint(self, asked: Asked) -> Answer:
        """Give out a token for an hour."""
        self._check(asked.token)
        self.minted.append(asked.body)
        token, end = f"token-{len(self.minted)}-of-the-app", self.now() + timedelta(hours=1)
        writes = asked.body["permissions"]["contents"] == "write"
        self.ends[token] = (Person(APP_BOT.id, APP_BOT.login, writes), end)
        return shown("installation-token", 201, token=token, expires_at=time(end))

    def _check(self, token: str) -> None:
        """Refuse what the App did not sign, or signed for too long."""
        try:
            said = jwt.decode(
                token,
                self.public_key,
                algorithms=["RS256"],
                options={"verify_exp": False, "verify_iat": False},
            )
        except jwt.PyJWTError as error:
            raise RefusedError(401, "A JSON web token could not be decoded") from error
        begins, now, ends = int(said["iat"]), self.now().timestamp(), int(said["exp"])
        if said["iss"] != APP or not begins <= now < ends <= begins + LONGEST:
            raise RefusedError(401, "'Expiration time' claim ('exp') is too far in the future")
