"""Read a repository at a commit: what is in it, who changed it, and what was proposed already."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tocsin_gitops import objects, pulls
from tocsin_gitops.config import Repository
from tocsin_gitops.git import Git, GitFailed
from tocsin_gitops.manifests import is_yaml
from tocsin_gitops.objects import Commit
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_kit.errors import PermanentError

__all__ = ["BlobFile", "Commit", "LocalGitSource", "PullRequest", "Source"]

MAX_BYTES = 1024 * 1024
_REF_FORMAT = "%(refname) %(objectname)"
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BlobFile:
    """A file's bytes and its git mode, such as 100644."""

    data: bytes
    mode: str


class Source(Protocol):
    """The read side of a repository; nothing here can change one."""

    async def head(self, repo: Repository) -> str:
        """Return the commit the repository's branch is at."""

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return the YAML and Markdown files of a commit; files over 1 MiB are left out."""

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits up to `sha`, of one file or folder if a path is given."""

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""

    async def touched_since(
        self, repo: Repository, base_sha: str, head_sha: str, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return which of the paths differ between two commits."""

    async def find_pull(self, repo: Repository, head_branch: str) -> PullRequest | None:
        """Return the pull request from a branch, whatever its state, or None."""

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None if there is no such branch."""


class LocalGitSource:
    """Reads bare repositories on this machine through git."""

    async def head(self, repo: Repository) -> str:
        """Return the commit the repository's branch is at; PermanentError without the branch."""
        ref = f"refs/heads/{repo.branch}^{{commit}}"
        try:
            return await Git(repo.git_dir).text("rev-parse", "--verify", "--end-of-options", ref)
        except GitFailed as error:
            sentence = f"{repo.name!r} has no readable branch {repo.branch!r}: {error}"
            raise PermanentError(sentence) from error

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return the YAML and Markdown files of a commit, with two git commands in all."""
        git = Git(repo.git_dir)
        listing = await git.run("ls-tree", "-r", "-l", "-z", _checked(sha))
        entries = [entry for entry in objects.tree(listing) if _wanted(entry)]
        asked = "".join(f"{entry.oid}\n" for entry in entries).encode()
        answer = await git.run("cat-file", "--batch", stdin=asked)
        pairs = zip(entries, objects.blobs(answer, len(entries)), strict=True)
        return {e.path: BlobFile(data, e.mode) for e, data in pairs if data is not None}

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits first; each names all files it touched."""
        options = ("-z", "--name-only", "--full-diff", "--no-renames", "--encoding=UTF-8")
        where = ("--", path) if path else ("--",)
        format_ = f"--format={objects.LOG_FORMAT}"
        git = Git(repo.git_dir)
        output = await git.run("log", *options, f"-n{limit}", format_, _checked(sha), *where)
        return objects.log(output)

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""
        if "\n" in path:
            return None
        asked = f"{_checked(sha)}:{path}\n".encode()
        answer = await Git(repo.git_dir).run("cat-file", "--batch", stdin=asked)
        return objects.blobs(answer, 1)[0]

    async def touched_since(
        self, repo: Repository, base_sha: str, head_sha: str, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return which of the paths differ between two commits, sorted."""
        if not paths:
            return ()
        shas = _checked(base_sha), _checked(head_sha)
        options = ("-r", "-z", "--name-only", "--no-renames")
        output = await Git(repo.git_dir).run("diff-tree", *options, *shas, "--", *paths)
        return tuple(sorted(name.decode() for name in output.split(b"\0") if name))

    async def find_pull(self, repo: Repository, head_branch: str) -> PullRequest | None:
        """Return the recorded pull request from a branch with what became of it, or None.

        It is merged once the base branch leads to its commit, and closed once its branch is gone
        otherwise: a squash leaves nothing of it that git could tell.
        """
        pull = await asyncio.to_thread(pulls.read, pulls.record(repo, head_branch))
        if pull is None or pull.state is not PullState.OPEN:
            return pull
        return pull.model_copy(update={"state": await self._state(repo, pull)})

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None if there is no such branch."""
        ref = f"refs/heads/{name}"
        listed = await Git(repo.git_dir).text("for-each-ref", f"--format={_REF_FORMAT}", ref)
        found = (line.partition(" ") for line in listed.splitlines())
        return next((sha for name, _, sha in found if name == ref), None)

    async def _state(self, repo: Repository, pull: PullRequest) -> PullState:
        there = await self.branch(repo, pull.head_branch)
        if await _leads_to(Git(repo.git_dir), pull.base_branch, pull.commit):
            return PullState.MERGED
        return PullState.OPEN if there else PullState.CLOSED


async def _leads_to(git: Git, branch: str, commit: str) -> bool:
    contains = f"--contains={_checked(commit)}"
    try:
        return bool(await git.text("for-each-ref", contains, f"refs/heads/{branch}"))
    except GitFailed:  # the commit itself is gone, which no branch that leads to it allows
        return False


def _wanted(entry: objects.TreeEntry) -> bool:
    text = is_yaml(entry.path) or entry.path.endswith(".md")
    return text and entry.type == "blob" and entry.size <= MAX_BYTES


def _checked(sha: str) -> str:
    if not _SHA.fullmatch(sha):
        raise PermanentError(f"{sha!r} is no commit id; give all of its hex digits")
    return sha
