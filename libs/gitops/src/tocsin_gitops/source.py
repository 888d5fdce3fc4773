"""Read a repository at a commit: what is in it, who changed it, and what was proposed already."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tocsin_gitops import objects, refs
from tocsin_gitops.config import Repository
from tocsin_gitops.git import Git, GitFailed
from tocsin_gitops.hosts.local import LocalPulls
from tocsin_gitops.manifests import is_read
from tocsin_gitops.objects import Commit
from tocsin_gitops.pulls import Comment, PullRequest
from tocsin_gitops.refs import checked
from tocsin_kit.errors import PermanentError

__all__ = ["BlobFile", "Commit", "LocalGitSource", "PullRequest", "Source"]

MAX_BYTES = 1024 * 1024


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
        """Return the YAML, Markdown and .tpl files of a commit; files over 1 MiB are left out."""

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits up to `sha`, of one file or folder if a path is given."""

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        """Return where the branch that is at `sha` was before and after it took in a commit."""

    async def leads_to(self, repo: Repository, sha: str, commit: str) -> bool:
        """Return whether a commit is another one, or comes after it; both have to be known."""

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""

    async def touched_since(
        self, repo: Repository, base_sha: str, head_sha: str, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return which of the paths differ between two commits."""

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None if there is no such branch."""

    async def pulls(self, repo: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every pull request from a branch of the repository itself, the newest first."""

    async def open_pulls(self, repo: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests that go to the repository's branch, at most 100."""

    async def touched(self, repo: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a pull request touches, at most 300."""

    async def proposed(self, repo: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""

    async def comments(self, repo: Repository, number: int, since: datetime) -> tuple[Comment, ...]:
        """Return the comments that were written since then, the oldest first."""


class LocalGitSource:
    """Reads bare repositories on this machine through git, and their records."""

    def __init__(self) -> None:
        self._pulls = LocalPulls()

    async def head(self, repo: Repository) -> str:
        """Return the commit the repository's branch is at; PermanentError without the branch."""
        ref = f"refs/heads/{repo.branch}^{{commit}}"
        try:
            return await Git(repo.git_dir).text("rev-parse", "--verify", "--end-of-options", ref)
        except GitFailed as error:
            sentence = f"{repo.name!r} has no readable branch {repo.branch!r}: {error}"
            raise PermanentError(sentence) from error

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return the YAML, Markdown and .tpl files of a commit, with two git commands in all."""
        git = Git(repo.git_dir)
        listing = await git.run("ls-tree", "-r", "-l", "-z", checked(sha))
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
        output = await git.run("log", *options, f"-n{limit}", format_, checked(sha), *where)
        return objects.log(output)

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        """Return where the branch that is at `sha` was before and after it took in a commit."""
        git = Git(repo.git_dir)
        after = await refs.brought(git, checked(sha), checked(commit))
        return await git.text("rev-parse", "--verify", f"{after}^1"), after

    async def leads_to(self, repo: Repository, sha: str, commit: str) -> bool:
        """Return whether a commit is another one, or comes after it; both have to be known."""
        between = ("rev-list", "-n1", checked(commit), f"^{checked(sha)}", "--")
        return not await Git(repo.git_dir).text(*between)

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""
        if "\n" in path:
            return None
        asked = f"{checked(sha)}:{path}\n".encode()
        answer = await Git(repo.git_dir).run("cat-file", "--batch", stdin=asked)
        return objects.blobs(answer, 1)[0]

    async def touched_since(
        self, repo: Repository, base_sha: str, head_sha: str, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return which of the paths differ between two commits, sorted."""
        if not paths:
            return ()
        shas = checked(base_sha), checked(head_sha)
        options = ("-r", "-z", "--name-only", "--no-renames")
        output = await Git(repo.git_dir).run("diff-tree", *options, *shas, "--", *paths)
        return tuple(sorted(name.decode() for name in output.split(b"\0") if name))

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None if there is no such branch."""
        return await refs.branch(Git(repo.git_dir), name)

    async def pulls(self, repo: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return the recorded pull request from a branch, if there is one."""
        return await self._pulls.pulls(repo, head_branch)

    async def open_pulls(self, repo: Repository) -> tuple[PullRequest, ...]:
        """Return the open ones that are recorded, the newest first."""
        return await self._pulls.open_pulls(repo)

    async def touched(self, repo: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a recorded pull request touches."""
        return await self._pulls.touched(repo, number)

    async def proposed(self, repo: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""
        return await self._pulls.proposed(repo, pull, path)

    async def comments(self, repo: Repository, number: int, since: datetime) -> tuple[Comment, ...]:
        """Return the recorded comments that were written since then, the oldest first."""
        return await self._pulls.comments(repo, number, since)


def _wanted(entry: objects.TreeEntry) -> bool:
    text = is_read(entry.path) or entry.path.endswith(".md")
    return text and entry.type == "blob" and entry.size <= MAX_BYTES
