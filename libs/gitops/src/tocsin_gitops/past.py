"""Read what commits did that edits say they undo, from the repository itself."""

from collections.abc import Iterable
from typing import Protocol

from tocsin_contracts import Edit
from tocsin_gitops.config import Repository
from tocsin_gitops.objects import Commit
from tocsin_gitops.undoing import Step

MOST_COMMITS = 20
"""How many of the newest commits of a file may be undone; older ones are the past."""


class Past(Protocol):
    """What is read of a repository to prove an undo."""

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits up to `sha`, of one file if a path is given."""

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        """Return where the branch that is at `sha` was before and after it took in a commit."""

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""


async def steps(past: Past, repo: Repository, sha: str, edits: Iterable[Edit]) -> tuple[Step, ...]:
    """Return what the commits did that the edits undo, as far as they lead to `sha`.

    A commit that is not among the newest of its file is left out, and so never undone. One that a
    merge brought is what the merge did: what stood only inside of the merged branch never ran.
    """
    asked = dict.fromkeys((edit.file, edit.undo_of) for edit in edits if edit.undo_of)
    found: list[Step] = []
    for file, commit in asked:
        for one in await past.commits(repo, sha, file, MOST_COMMITS):
            if one.sha == commit and one.parent:
                was, became = await past.brought(repo, sha, commit)
                before = await past.show(repo, was, file)
                found.append(Step(commit, file, before, await past.show(repo, became, file)))
    return tuple(found)
