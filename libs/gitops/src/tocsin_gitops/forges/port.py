"""What Tocsin asks of a place that holds pull requests, and the one way to be refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tocsin_gitops.config import Repository
from tocsin_gitops.pulls import Comment, PullRequest
from tocsin_kit.errors import PermanentError


@dataclass(frozen=True, slots=True)
class PullRequestRequest:
    """Everything a pull request is made of; equal requests lead to one and the same.

    `files` holds the full new bytes of every file that changes.
    """

    repository: Repository
    base_branch: str
    parent_sha: str
    head_branch: str
    title: str
    body: str
    files: Mapping[str, bytes]


class BranchTaken(PermanentError):  # noqa: N818 - a refusal is an answer, not a fault
    """The branch holds another commit than this request makes; it is never overwritten."""

    def __init__(self, branch: str, commit: str) -> None:
        super().__init__(f"the branch {branch!r} is at {commit}, which is not this plan's commit")
        self.branch = branch
        self.commit = commit


class Forge(Protocol):
    """The write side of a repository: pull requests, commits on their branches, comments.

    It never merges, never deletes, never forces a branch and never writes to a base branch. Every
    call may be made again after any crash and leads to the same one effect. TransientError asks
    for patience, with the forge's own wait in `retry_in`; PermanentError says what a person has
    to mend.
    """

    @property
    def name(self) -> str:
        """The type of host, as `type` of a provider names it."""

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before; BranchTaken otherwise."""

    async def add_commit(self, request: PullRequestRequest, number: int) -> PullRequest:
        """Add one commit to the branch of an open pull request, and show the new title and body.

        `parent_sha` is the head that was approved; BranchTaken if the branch is anywhere else.
        """

    async def comment(self, repository: Repository, number: int, body: str, marker: str) -> Comment:
        """Comment once for each marker, which goes into the comment unseen; return what is there.

        Only a comment of our own identity counts as there: anybody could write the marker.
        """
