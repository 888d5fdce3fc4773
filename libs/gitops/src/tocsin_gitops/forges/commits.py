"""Tell our own commit from any other by what it holds, where its id cannot be foretold."""

import hashlib
from dataclasses import dataclass

from tocsin_gitops import messages
from tocsin_gitops.forges.port import PullRequestRequest
from tocsin_gitops.pulls import PullRequest
from tocsin_kit.errors import PermanentError

AUTHOR, EMAIL = "Tocsin", "tocsin@localhost"
OURS = "tocsin/"
"""What every branch that is written to begins with."""

_SHA1_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Seen:
    """A commit as its forge shows it; `changed` are the paths that differ from its parent."""

    sha: str
    parents: tuple[str, ...]
    message: str
    changed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a commit keeps at a path; `is_plain` is False for a link, a submodule or a folder."""

    oid: str
    is_plain: bool

    def holds(self, data: bytes) -> bool:
        """Whether it is a plain file of exactly these bytes: git names a blob by its content."""
        digest = hashlib.sha1 if len(self.oid) == _SHA1_LENGTH else hashlib.sha256
        named = digest(b"blob %d\0" % len(data), usedforsecurity=False)
        named.update(data)
        return self.is_plain and named.hexdigest() == self.oid


def message(request: PullRequestRequest) -> str:
    """Return the message of a request's commit, which ends with the trailer of its plan."""
    return messages.commit(request.title, request.body)


def may_be_ours(seen: Seen, request: PullRequestRequest) -> bool:
    """Whether a commit has the approved parent, message and paths; its bytes are another matter."""
    wanted = message(request).splitlines()
    said = seen.message.splitlines()
    is_named = said[:1] == wanted[:1] and wanted[-1] in said
    return is_named and seen.parents == (request.parent_sha,) and seen.changed <= set(request.files)


def refuse_other_branches(request: PullRequestRequest) -> None:
    """Refuse to write to a branch that is not one of ours, whoever asks for it."""
    branch = request.head_branch
    others = (request.base_branch, request.repository.branch)
    if not branch.startswith(OURS) or branch in others:
        raise PermanentError(f"the branch {branch!r} is never written: it is none of ours")


def refuse_other_pulls(pull: PullRequest, request: PullRequestRequest) -> None:
    """Refuse to add to a pull request that is not the one of the request's two branches."""
    if pull.head_branch != request.head_branch:
        raise PermanentError(f"{pull.url} is not from {request.head_branch!r}")
    if pull.base_branch != request.base_branch:
        raise PermanentError(
            f"{pull.url} goes to {pull.base_branch!r} by now; a person has to look"
        )
