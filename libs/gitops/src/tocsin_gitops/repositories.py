"""Read every allowed repository alike: contents from git, pull requests from its host."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self

from tocsin_gitops import hosts
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.fetching import Origin
from tocsin_gitops.hosts import credentials
from tocsin_gitops.hosts.port import PullReader
from tocsin_gitops.mirror import MAX_AGE, Mirrors
from tocsin_gitops.objects import Commit
from tocsin_gitops.pulls import Comment, PullRequest
from tocsin_gitops.source import BlobFile, LocalGitSource
from tocsin_kit import logging
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError, TocsinError

log = logging.get(__name__)


class Repositories:
    """A Source of all hosts.

    Remote repositories are read from a copy. `head` and `branch` look at the remote first, at most
    every few seconds, and always if `fresh`; everything else is about commits, which never change.
    While it is entered it fetches the copies beforehand, so that no run waits for a first clone.
    """

    def __init__(
        self,
        gitops: GitOps,
        readers: Mapping[str, PullReader],
        mirrors: Mirrors,
        *,
        fresh: bool = False,
    ) -> None:
        self.gitops = gitops
        self._readers = readers
        self._mirrors = mirrors
        self._fresh = fresh
        self._git = LocalGitSource()
        self._warming: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        remote = (r for r in self.gitops.repositories if r.is_remote)
        self._warming = [asyncio.create_task(self._warm(repo)) for repo in remote]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._warming:
            task.cancel()
        await asyncio.gather(*self._warming, return_exceptions=True)
        await self._mirrors.stop()

    async def head(self, repo: Repository) -> str:
        """Return the commit the repository's branch is at; PermanentError without the branch."""
        await self._mirrors.refresh(repo, fresh=self._fresh)
        return await self._git.head(repo)

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return the YAML, Markdown and .tpl files of a commit; files over 1 MiB are left out."""
        await self._need(repo, sha)
        return await self._git.files(repo, sha)

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits up to `sha`, of one file or folder if a path is given."""
        await self._need(repo, sha)
        return await self._git.commits(repo, sha, path, limit)

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        """Return where the branch that is at `sha` was before and after it took in a commit."""
        await self._need(repo, sha)
        return await self._git.brought(repo, sha, commit)

    async def leads_to(self, repo: Repository, sha: str, commit: str) -> bool:
        """Return whether a commit is another one, or comes after it; both have to be known."""
        await self._need(repo, sha)
        return await self._git.leads_to(repo, sha, commit)

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""
        await self._need(repo, sha)
        return await self._git.show(repo, sha, path)

    async def touched_since(
        self, repo: Repository, base_sha: str, head_sha: str, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return which of the paths differ; all may, if a branch was rewritten without the base."""
        await self._need(repo, head_sha)
        if not await self._mirrors.holds(repo, base_sha):
            return tuple(sorted(paths))
        return await self._git.touched_since(repo, base_sha, head_sha, paths)

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None; of remote ones only ours are known."""
        await self._mirrors.refresh(repo, fresh=self._fresh)
        return await self._git.branch(repo, name)

    async def pulls(self, repo: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every pull request from a branch of the repository itself, the newest first."""
        return await self._reader(repo).pulls(repo, head_branch)

    async def open_pulls(self, repo: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests that go to the repository's branch, at most 100."""
        return await self._reader(repo).open_pulls(repo)

    async def touched(self, repo: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a pull request touches, at most 300."""
        return await self._reader(repo).touched(repo, number)

    async def proposed(self, repo: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""
        return await self._reader(repo).proposed(repo, pull, path)

    async def comments(self, repo: Repository, number: int, since: datetime) -> tuple[Comment, ...]:
        """Return the comments that were written since then, the oldest first."""
        return await self._reader(repo).comments(repo, number, since)

    def _reader(self, repo: Repository) -> PullReader:
        return self._readers[repo.host]

    async def _need(self, repo: Repository, sha: str) -> None:
        if not await self._mirrors.holds(repo, sha):
            raise PermanentError(
                f"{repo.host}: no branch of {repo.name!r} that is read leads to the commit {sha}"
            )

    async def _warm(self, repo: Repository) -> None:
        try:
            await self._mirrors.refresh(repo)
        except TocsinError as error:
            log.warning("mirror.not_fetched", repository=repo.name, why=str(error))


def repositories(
    gitops: GitOps, environment: Mapping[str, str], clock: Clock, *, fresh: bool = False
) -> Repositories:
    """Return what reads the repositories of gitops.yaml, with the tokens of the environment."""
    origins = {
        provider.host: Origin(
            provider,
            credentials.tokens(provider, environment, clock, writing=False),
            authorities=environment.get("SSL_CERT_FILE", ""),
        )
        for provider in gitops.remote_providers
    }
    mirrors = Mirrors(origins, clock, max_age=MAX_AGE)
    return Repositories(gitops, hosts.build(gitops, environment, clock), mirrors, fresh=fresh)
