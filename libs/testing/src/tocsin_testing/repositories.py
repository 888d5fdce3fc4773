"""Repositories in memory, and a forge that keeps what it was asked to write."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import BranchTaken, PullRequestRequest
from tocsin_gitops.pulls import Comment, PullRequest, PullState
from tocsin_gitops.source import BlobFile, Commit
from tocsin_kit.errors import PermanentError
from tocsin_testing.build import NOW

Files = Mapping[str, bytes]


class FakeRepositories:
    """The read side of repositories that a test fills; `read` names those that were asked.

    `branches` holds where branches other than those of pull requests are, by repository and name,
    `log` the commits that people see, `touches` the paths of pull requests by their number.
    """

    def __init__(self) -> None:
        self.read: list[str] = []
        self.opened: dict[tuple[str, str], PullRequest] = {}
        self.branches: dict[tuple[str, str], str] = {}
        self.log: list[Commit] = []
        self.touches: dict[tuple[str, int], tuple[str, ...]] = {}
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
        number = len(self.opened) + 1
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
        self._commits.setdefault(pull.commit, self._commits.get(self._heads.get(repo, ""), {}))
        return self.opened.setdefault((repo, branch), pull)

    def push(self, repo: str, branch: str, files: Mapping[str, bytes], commit: str = "") -> str:
        """Put files on top of the branch of a pull request; return the commit, its new head."""
        pull = self.opened[repo, branch]
        sha = commit or _digest(pull.commit, sorted(files.items()))
        self._commits[sha] = {**self._commits[pull.commit], **files}
        self.change(repo, branch, commit=sha)
        return sha

    def change(self, repo: str, branch: str, **fields: object) -> PullRequest:
        """Change what a pull request shows."""
        changed = self.opened[repo, branch].model_copy(update=fields)
        self.opened[repo, branch] = changed
        return changed

    def merge(self, repo: str, branch: str, **fields: object) -> PullRequest:
        """Merge a pull request: the base has its files then."""
        pull = self.opened[repo, branch]
        before, after = self._commits[self._heads[repo]], self._commits[pull.commit]
        files = {path: data for path, data in after.items() if before.get(path) != data}
        merged = {"state": PullState.MERGED, "merged_commit": self.commit(repo, files)}
        return self.change(repo, branch, **(merged | fields))

    async def head(self, repo: Repository) -> str:
        """Return the newest commit."""
        self.read.append(repo.name)
        return self._heads[repo.name]

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return every file of a commit."""
        self.read.append(repo.name)
        return {path: BlobFile(data, "100644") for path, data in self._commits[sha].items()}

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return what a test put into `log`."""
        self.read.append(repo.name)
        return tuple(one for one in self.log if not path or path in one.files)[:limit]

    async def open_pulls(self, repo: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests of the repository."""
        self.read.append(repo.name)
        found = (pull for (name, _), pull in self.opened.items() if name == repo.name)
        return tuple(pull for pull in found if pull.state is PullState.OPEN)

    async def comments(self, repo: Repository, number: int, since: datetime) -> tuple[Comment, ...]:
        """Return nothing: what people say comes as facts."""
        del repo, number, since
        return ()

    async def touched(self, repo: Repository, number: int) -> tuple[str, ...]:
        """Return what a test says that a pull request touches."""
        return self.touches.get((repo.name, number), ())

    async def proposed(self, repo: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as it is on the branch of a pull request."""
        return await self.show(repo, pull.commit, path)

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        """Return the commit of `log` and what it says was before: nothing there is a merge."""
        del repo, sha
        return next((one.parent, one.sha) for one in self.log if one.sha == commit)

    async def leads_to(self, repo: Repository, sha: str, commit: str) -> bool:
        """Return whether a test committed one no later than the other."""
        del repo
        known = list(self._commits)
        if sha not in known:
            raise PermanentError(f"no branch leads to the commit {sha}")
        return commit in known and known.index(commit) <= known.index(sha)

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

    async def pulls(self, repo: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return the pull request from a branch, whatever its state."""
        self.read.append(repo.name)
        found = self.opened.get((repo.name, head_branch))
        return (found,) if found else ()

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return where a test put a branch, else the commit of its pull request, or None."""
        self.read.append(repo.name)
        pull = self.opened.get((repo.name, name))
        return self.branches.get((repo.name, name), pull.commit if pull else None)


class FakeForge:
    """Writes to the repositories of a test; `asked` keeps every request, `said` the comments."""

    name = "local"

    def __init__(self, repositories: FakeRepositories) -> None:
        self.asked: list[PullRequestRequest] = []
        self.said: dict[tuple[str, int, str], Comment] = {}
        self._repositories = repositories

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before; BranchTaken otherwise."""
        self.asked.append(request)
        repo, branch = request.repository.name, request.head_branch
        commit = _digest(
            request.parent_sha, request.title, request.body, sorted(request.files.items())
        )
        pulls = self._repositories.opened
        if (repo, branch) not in pulls:
            self._repositories.open(repo, branch)
            self._repositories.push(repo, branch, request.files, commit)
            self._repositories.change(repo, branch, title=request.title, body=request.body)
        if pulls[repo, branch].commit != commit:
            raise BranchTaken(branch, pulls[repo, branch].commit)
        return pulls[repo, branch]

    async def add_commit(self, request: PullRequestRequest, number: int) -> PullRequest:
        """Add one commit to the branch of an open pull request; BranchTaken if it moved on."""
        self.asked.append(request)
        repo, branch = request.repository.name, request.head_branch
        commit = _digest(
            request.parent_sha, request.title, request.body, sorted(request.files.items())
        )
        pull = self._repositories.opened[repo, branch]
        if (pull.number, pull.commit) == (number, request.parent_sha):
            self._repositories.push(repo, branch, request.files, commit)
            self._repositories.change(repo, branch, title=request.title, body=request.body)
        if self._repositories.opened[repo, branch].commit != commit:
            raise BranchTaken(branch, pull.commit)
        return self._repositories.opened[repo, branch]

    async def comment(self, repository: Repository, number: int, body: str, marker: str) -> Comment:
        """Comment once for each marker."""
        said = Comment(id=f"c{len(self.said) + 1}", author="tocsin", body=body, at=NOW)
        return self.said.setdefault((repository.name, number, marker), said)


def _digest(*parts: object) -> str:
    return hashlib.sha1(repr(parts).encode(), usedforsecurity=False).hexdigest()
