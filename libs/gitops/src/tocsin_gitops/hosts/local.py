"""Pull requests on bare repositories of this machine: their records, and what git tells of them."""

import asyncio
from datetime import UTC, datetime

from tocsin_gitops import objects, pulls, refs
from tocsin_gitops.config import Repository
from tocsin_gitops.git import Git
from tocsin_gitops.pulls import Comment, PullRequest, PullState

MOST_PULLS, MOST_PATHS = 100, 300


class LocalPulls:
    """Reads records and asks git what became of them.

    A pull request is merged once the base branch leads to its commit, and closed once its branch
    is gone otherwise: a squash leaves nothing of it that git could tell. While it is open its
    commit is where its branch is.
    """

    name = "local"

    async def pulls(self, repository: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return the pull request of a branch, as there is one record for each."""
        pull = await asyncio.to_thread(pulls.read, pulls.record(repository, head_branch))
        return (await _now(repository, pull),) if pull else ()

    async def open_pulls(self, repository: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests that go to the repository's base branch."""
        known = await asyncio.to_thread(pulls.every, repository)
        likely = [
            pull
            for pull in known.values()
            if pull.state is PullState.OPEN and pull.base_branch == repository.branch
        ]
        found = [await _now(repository, pull) for pull in likely]
        return tuple(pull for pull in found if pull.state is PullState.OPEN)[:MOST_PULLS]

    async def touched(self, repository: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a pull request touches, seen from where it left the base."""
        _, recorded = await asyncio.to_thread(pulls.numbered, repository, number)
        pull = await _now(repository, recorded)
        git, base = Git(repository.git_dir), f"refs/heads/{pull.base_branch}"
        if pull.state is PullState.MERGED:
            base = f"{refs.checked(pull.merged_commit)}^1"
        left = await git.text("merge-base", "--", base, pull.commit)
        options = ("-r", "-z", "--name-only", "--no-renames")
        output = await git.run("diff-tree", *options, left, pull.commit, "--")
        return tuple(name.decode() for name in output.split(b"\0") if name)[:MOST_PATHS]

    async def proposed(self, repository: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""
        if "\n" in path:
            return None
        asked = f"{refs.checked(pull.commit)}:{path}\n".encode()
        answer = await Git(repository.git_dir).run("cat-file", "--batch", stdin=asked)
        return objects.blobs(answer, 1)[0]

    async def comments(
        self, repository: Repository, number: int, since: datetime
    ) -> tuple[Comment, ...]:
        """Return the comments that were written since then, the oldest first."""
        file, _ = await asyncio.to_thread(pulls.numbered, repository, number)
        found = await asyncio.to_thread(pulls.comments, file)
        return tuple(sorted((c for c in found if c.at >= since), key=lambda c: c.at))


async def _now(repository: Repository, pull: PullRequest) -> PullRequest:
    """What a person wrote into the record about its end stays."""
    if pull.state is not PullState.OPEN:
        return pull
    git = Git(repository.git_dir)
    there = await refs.branch(git, pull.head_branch)
    if await refs.leads_to(git, pull.base_branch, pull.commit):
        return await _merged(git, pull)
    if there is None:
        return pull.model_copy(update={"state": PullState.CLOSED})
    return pull.model_copy(update={"commit": there})


async def _merged(git: Git, pull: PullRequest) -> PullRequest:
    """Name the commit that brought it; a base that was moved up to it keeps no time of that."""
    base, commit = f"refs/heads/{pull.base_branch}", pull.commit
    update: dict[str, object] = {"state": PullState.MERGED, "merged_commit": commit}
    brought = await refs.brought(git, base, commit)
    if brought != commit:
        shown = ("show", "--no-patch", "--format=%ct", brought, "--")
        ended_at = datetime.fromtimestamp(int(await git.text(*shown)), UTC)
        update |= {"merged_commit": brought, "ended_at": ended_at}
    return pull.model_copy(update=update)
