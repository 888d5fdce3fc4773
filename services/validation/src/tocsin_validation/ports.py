"""What validation asks of the world, and what every check is handed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tocsin_contracts import Alert, CheckResult, Edit, EndReason, Hypothesis, Target
from tocsin_gitops.config import Repository
from tocsin_gitops.policy import WritePolicy
from tocsin_gitops.pulls import PullRequest
from tocsin_gitops.source import BlobFile


class Source(Protocol):
    """The read side of the repositories."""

    async def head(self, repo: Repository) -> str:
        """Return the commit the repository's branch is at."""

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return the YAML and Markdown files of a commit."""

    async def find_pull(self, repo: Repository, head_branch: str) -> PullRequest | None:
        """Return the pull request from a branch, whatever its state, or None."""

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None if there is no such branch."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A change that is about to become a plan: what every check looks at.

    `before` and `modes` hold the touched files at the base commit, `after` what they become: no
    file at all where an edit cannot be made.
    `branch_at` is the commit of `head_branch`, the branch of the issue; None if there is none yet.
    """

    alert: Alert
    hypothesis: Hypothesis
    target: Target
    edits: tuple[Edit, ...]
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    modes: Mapping[str, str]
    policy: WritePolicy
    issue_key: str
    head_branch: str
    branch_at: str | None
    pull: PullRequest | None


class Consequence(StrEnum):
    """What a failed check leads to."""

    LOOK_AGAIN = "look_again"
    ESCALATE = "escalate"
    NO_CHANGE = "no_change"


class Check(Protocol):
    """One deterministic question about a change."""

    @property
    def name(self) -> str:
        """What people and results call it."""

    @property
    def consequence(self) -> Consequence:
        """What becomes of the run when it fails."""

    @property
    def reason(self) -> EndReason:
        """Why the run ends, where it does."""

    def run(self, change: Proposed) -> CheckResult:
        """Answer it: pass, fail or unknown, with the reason. No IO."""
