"""Repositories in memory, and a forge that keeps what it was asked to write."""

import hashlib
from collections.abc import Mapping, Sequence

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import BranchTaken, PullRequestRequest
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_gitops.source import BlobFile
from tocsin_testing.build import NOW

Files = Mapping[str, bytes]


class FakeRepositories:
    """The read side of repositories that a test fills; `read` names those that were asked.

    `branches` holds where branches other than those of pull requests are, by repository and name.
    """

    def __init__(self) -> None:
        self.read: list[str] = []
        self.pulls: dict[tuple[str, str], PullRequest] = {}
        self.branches: dict[tuple[str, str], str] = {}
        self._commits: dict[str, Files] = {}
        self._heads: dict[str, str] = {}

    def commit(self, repo: str, files: Mapping[str, bytes | str]) -> str:
        """Put files on top of what the repository holds; return the commit, which is its head."""
        parent = self._heads.get(repo, "")
        changed = {path: d.encode() if isinstance(d, str) else d for path, d in files.items()}
        sha = _digest(repo, parent, sorted(changed.items()))
        self._commits[sha] = {**self._commits.get(parent, {}), **changed}
        self._heads[repo] = sha
        return sha

    def open(self, repo: str, branch: str, state: PullState = PullState.OPEN) -> PullRequest:
        """Put a pull request of somebody else's from a branch, in any state."""
        number = len(self.pulls) + 1
        pull = PullRequest(
            number=number,
            title="Somebody else's",
            body="",
            head_branch=branch,
            base_branch="main",
            commit=_digest(repo, branch),
            state=state,
            opened_at=NOW,
            url=f"local://{repo}/{number}",
        )
        return self.pulls.setdefault((repo, branch), pull)

    async def head(self, repo: Repository) -> str:
        """Return the newest commit."""
        self.read.append(repo.name)
        return self._heads[repo.name]

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return every file of a commit."""
        self.read.append(repo.name)
        return {path: BlobFile(data, "100644") for path, data in self._commits[sha].items()}

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""
        self.read.append(repo.name)
        return self._commits[sha].get(path)

    async def touched_since(
        self, repo: Repository, base_sha: str, head_sha: str, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return which of the paths differ between two commits."""
        self.read.append(repo.name)
        before, after = self._commits[base_sha], self._commits[head_sha]
        return tuple(path for path in paths if before.get(path) != after.get(path))

    async def find_pull(self, repo: Repository, head_branch: str) -> PullRequest | None:
        """Return the pull request from a branch, whatever its state, or None."""
        self.read.append(repo.name)
        return self.pulls.get((repo.name, head_branch))

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return where a test put a branch, else the commit of its pull request, or None."""
        self.read.append(repo.name)
        pull = self.pulls.get((repo.name, name))
        return self.branches.get((repo.name, name), pull.commit if pull else None)


class FakeForge:
    """Opens pull requests in the repositories of a test; `asked` keeps every request."""

    name = "local"

    def __init__(self, repositories: FakeRepositories) -> None:
        self.asked: list[PullRequestRequest] = []
        self._repositories = repositories

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before; BranchTaken otherwise."""
        self.asked.append(request)
        repo, branch = request.repository.name, request.head_branch
        commit = _digest(
            request.parent_sha, request.title, request.body, sorted(request.files.items())
        )
        pulls = self._repositories.pulls
        if (repo, branch) not in pulls:
            opened = self._repositories.open(repo, branch)
            same = {"commit": commit, "title": request.title, "body": request.body}
            pulls[repo, branch] = opened.model_copy(update=same)
        if pulls[repo, branch].commit != commit:
            raise BranchTaken(branch, pulls[repo, branch].commit)
        return pulls[repo, branch]


def _digest(*parts: object) -> str:
    return hashlib.sha1(repr(parts).encode(), usedforsecurity=False).hexdigest()
