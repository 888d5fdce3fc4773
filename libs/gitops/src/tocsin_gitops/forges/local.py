"""Open pull requests on a bare repository of this machine, with git plumbing and no work tree."""

import asyncio
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tocsin_gitops import pulls, refs
from tocsin_gitops.config import Repository
from tocsin_gitops.forges import commits, markers, records
from tocsin_gitops.forges.port import BranchTaken, PullRequestRequest
from tocsin_gitops.git import Git, GitFailed
from tocsin_gitops.hosts.local import LocalPulls
from tocsin_gitops.objects import tree
from tocsin_gitops.pulls import Comment, PullRequest, PullState
from tocsin_kit.errors import PermanentError

_AUTHOR = "tocsin"
_NEW_FILE = "100644"
_PLAIN_FILES = (_NEW_FILE, "100755")
_IDENTITY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", commits.AUTHOR), ("EMAIL", commits.EMAIL))
}


def _now() -> datetime:
    return datetime.now(UTC)


class LocalGitForge:
    """A branch in the repository and a record beside it are the pull request.

    The commit follows from the request alone, so a second try arrives at the same commit, and
    whatever a crash left undone is done then.
    """

    name = "local"

    def __init__(self, now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._reader = LocalPulls()

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before; BranchTaken otherwise."""
        commits.refuse_other_branches(request)
        git = Git(request.repository.git_dir)
        commit = await _commit(git, request)
        file = pulls.record(request.repository, request.head_branch)
        known = await asyncio.to_thread(pulls.read, file)
        if known is None:
            await _branch(git, request.head_branch, commit, "0" * len(commit))
            opened = self._opened(request, commit, file)
            known = await asyncio.to_thread(records.create, file, opened)
        if known.commit != commit and not await refs.leads_to(git, request.head_branch, commit):
            raise BranchTaken(request.head_branch, known.commit)
        return known

    async def add_commit(self, request: PullRequestRequest, number: int) -> PullRequest:
        """Move the branch on by one commit, then show the new title and body in the record."""
        commits.refuse_other_branches(request)
        repository, branch = request.repository, request.head_branch
        file, recorded = await asyncio.to_thread(pulls.numbered, repository, number)
        commits.refuse_other_pulls(recorded, request)
        git = Git(repository.git_dir)
        commit = await _commit(git, request)
        (pull,) = await self._reader.pulls(repository, branch)
        if recorded.commit == commit:
            return pull
        if not await refs.leads_to(git, request.base_branch, commit):
            if pull.state is not PullState.OPEN:
                raise PermanentError(f"{pull.url} is {pull.state.value}; nothing is added to it")
            await _branch(git, branch, commit, request.parent_sha)
        shown = {"commit": commit, "title": request.title, "body": request.body}
        await asyncio.to_thread(records.update, file, shown)
        (pull,) = await self._reader.pulls(repository, branch)
        return pull

    async def comment(self, repository: Repository, number: int, body: str, marker: str) -> Comment:
        """Comment once for each marker; return what is there."""
        ends = markers.closing(marker)
        file, _ = await asyncio.to_thread(pulls.numbered, repository, number)
        said = Comment(
            id="",
            author=_AUTHOR,
            body=f"{body.rstrip()}\n\n{ends}\n",
            at=self._now(),
            url=file.absolute().as_uri(),
        )
        return await asyncio.to_thread(records.comment, file, said, ends)

    def _opened(self, request: PullRequestRequest, commit: str, file: Path) -> PullRequest:
        return PullRequest(
            number=0,
            title=request.title,
            body=request.body,
            head_branch=request.head_branch,
            base_branch=request.base_branch,
            commit=commit,
            state=PullState.OPEN,
            opened_at=self._now(),
            url=file.absolute().as_uri(),
        )


async def _commit(git: Git, request: PullRequestRequest) -> str:
    """Dated like its parent, so that the same request gives the same commit at any time."""
    parent = request.parent_sha
    seconds = await git.text("show", "--no-patch", "--format=%ct", "--end-of-options", parent)
    date = f"{seconds} +0000"
    identity = {**_IDENTITY, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    message = commits.message(request)
    new_tree = await _tree(git, request)
    commit = await git.run(
        "commit-tree", new_tree, "-p", parent, stdin=message.encode(), environment=identity
    )
    return commit.decode().strip()


async def _tree(git: Git, request: PullRequestRequest) -> str:
    listing = await git.run("ls-tree", "-r", "-l", "-z", request.parent_sha, "--", *request.files)
    modes = {entry.path: entry.mode for entry in tree(listing)}
    lines = []
    for path, data in sorted(request.files.items()):
        mode = modes.get(path, _NEW_FILE)
        if mode not in _PLAIN_FILES:
            raise PermanentError(f"{path!r} has the mode {mode}; only plain files are written")
        blob = await git.text("hash-object", "-w", "--stdin", stdin=data)
        lines.append(f"{mode} {blob}\t{path}\0")
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        await git.run("read-tree", request.parent_sha, environment=index)
        entries = "".join(lines).encode()
        await git.run("update-index", "-z", "--index-info", stdin=entries, environment=index)
        return (await git.run("write-tree", environment=index)).decode().strip()


async def _branch(git: Git, branch: str, commit: str, from_: str) -> None:
    """Move the branch, if it is where it should be; one that is there already is fine as well."""
    try:
        await git.run("update-ref", f"refs/heads/{branch}", commit, from_)
    except GitFailed:
        there = await refs.branch(git, branch)
        if there is None and from_.strip("0") == "":
            raise
        if there != commit:
            raise BranchTaken(branch, there or "nothing") from None
