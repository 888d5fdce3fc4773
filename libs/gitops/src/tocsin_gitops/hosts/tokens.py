"""Whose token a host is asked with: a Protocol, and the plain one that a variable holds."""

from dataclasses import dataclass, field
from typing import Protocol


class Tokens(Protocol):
    """Gives the token for a repository, and knows how a person mends one that is refused."""

    @property
    def needs(self) -> str:
        """Which variable holds it and what it must allow, in words for a person."""

    async def token(self, repository: str) -> str:
        """Return the token for a repository `owner/name`; empty to ask as nobody."""

    async def account(self, repository: str) -> str:
        """Return the path, below the API, of the account that the token writes as."""

    def refused(self, repository: str) -> bool:
        """Take note that the token was not taken; return whether the next one may be."""


@dataclass(frozen=True, slots=True)
class PlainToken:
    """One token for every repository of a host, as the variable `variable` held it at start."""

    variable: str
    value: str = field(repr=False)
    rights: str

    @property
    def needs(self) -> str:
        """Which variable holds it and what it must allow, in words for a person."""
        return f"the token in {self.variable} needs {self.rights}"

    async def token(self, repository: str) -> str:
        """Return the same token for every repository."""
        del repository
        return self.value

    async def account(self, repository: str) -> str:
        """Return where every host shows a token whose it is."""
        del repository
        return "/user"

    def refused(self, repository: str) -> bool:
        """Return False: the same token would be refused again."""
        del repository
        return False
