"""What Tocsin asks of a place that holds pull requests, and the one way to be refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tocsin_gitops.config import Repository
from tocsin_gitops.pulls import PullRequest
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
    """The write side of a repository: it opens pull requests and does nothing else."""

    @property
    def name(self) -> str:
        """The kind of host, as `host` of a repository names it."""

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before; BranchTaken otherwise."""
