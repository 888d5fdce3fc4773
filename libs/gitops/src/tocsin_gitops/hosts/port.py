"""What Tocsin asks about pull requests, of any host and without a right to write."""

from datetime import datetime
from typing import Protocol

from tocsin_gitops.config import Repository
from tocsin_gitops.pulls import Comment, PullRequest


class PullReader(Protocol):
    """Reads pull requests. TransientError: ask again; PermanentError: a person has to look."""

    @property
    def name(self) -> str:
        """The type of host, as `type` of a provider names it."""

    async def pulls(self, repository: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every pull request from a branch of the repository itself, the newest first.

        One from a fork that has a branch of the same name is not among them.
        """

    async def open_pulls(self, repository: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests that go to the repository's base branch, at most 100."""

    async def touched(self, repository: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a pull request touches, at most 300."""

    async def proposed(self, repository: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""

    async def comments(
        self, repository: Repository, number: int, since: datetime
    ) -> tuple[Comment, ...]:
        """Return the comments that were written since then, the oldest first."""
