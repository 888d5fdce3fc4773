"""Where the branches of a repository are, and what leads to what."""

import re

from tocsin_gitops.git import Git, GitFailed
from tocsin_kit.errors import PermanentError

_FORMAT = "%(refname) %(objectname)"
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def checked(sha: str) -> str:
    """Return the commit id if it is a whole one; nothing else reaches git as a revision."""
    if not _SHA.fullmatch(sha):
        raise PermanentError(f"{sha!r} is no commit id; give all of its hex digits")
    return sha


async def branch(git: Git, name: str) -> str | None:
    """Return the commit that a branch is at, or None if there is no such branch."""
    ref = f"refs/heads/{name}"
    listed = await git.text("for-each-ref", f"--format={_FORMAT}", ref)
    found = (line.partition(" ") for line in listed.splitlines())
    return next((sha for name, _, sha in found if name == ref), None)


async def leads_to(git: Git, name: str, commit: str) -> bool:
    """Return whether a branch holds a commit; one that is gone is held by none."""
    contains = f"--contains={checked(commit)}"
    try:
        return bool(await git.text("for-each-ref", contains, f"refs/heads/{name}"))
    except GitFailed:  # the commit itself is gone, which no branch that leads to it allows
        return False


async def brought(git: Git, tip: str, commit: str) -> str:
    """Return the commit on the first-parent line of `tip` that brought a commit, maybe itself.

    `tip` is a branch or commit that leads to it.
    """
    line = (await git.text("rev-list", "--first-parent", tip, f"^{commit}^@", "--")).split()
    if commit in line:
        return commit
    holding = await git.text("rev-list", "--ancestry-path", f"{commit}..{tip}", "--")
    held = set(holding.split())
    return [sha for sha in line if sha in held][-1]
