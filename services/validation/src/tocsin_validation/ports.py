"""What validation asks of the world, and what every check is handed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tocsin_contracts import (
    Alert,
    CheckResult,
    CheckSeverity,
    Edit,
    EndReason,
    FailureCode,
    Hypothesis,
    RunId,
    Target,
)
from tocsin_gitops.config import Repository
from tocsin_gitops.policy import WritePolicy
from tocsin_gitops.pulls import PullRequest
from tocsin_gitops.source import BlobFile, Commit
from tocsin_gitops.undoing import Step
from tocsin_kit.approvals import Approval
from tocsin_kit.issues import Claim, Written
from tocsin_kit.run_view import Run
from tocsin_validation.facts import Surroundings


class Source(Protocol):
    """The read side of the repositories."""

    async def head(self, repo: Repository) -> str:
        """Return the commit the repository's branch is at."""

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        """Return the YAML and Markdown files of a commit, and the helpers of charts."""

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits up to `sha`, of one file or folder if a path is given."""

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        """Return where the branch that is at `sha` was before and after it took in a commit."""

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""

    async def pulls(self, repo: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every pull request from a branch of the repository itself, the newest first."""

    async def open_pulls(self, repo: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests that go to the repository's branch, at most 100."""

    async def touched(self, repo: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a pull request touches, at most 300."""

    async def proposed(self, repo: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""

    async def branch(self, repo: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None if there is no such branch."""


class Reader(Protocol):
    """Reads runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""


class Approvals(Protocol):
    """Reads the approval records."""

    async def get(self, run_id: RunId, plan_hash: str) -> Approval | None:
        """Return the approval of a plan, or None."""


class Issues(Protocol):
    """What was written to forges about each issue, and which run looks after it."""

    async def written(self, issue_key: str) -> tuple[Written, ...]:
        """Return our commits about an issue, the oldest first."""

    async def ended(self, issue_key: str, url: str, now: datetime) -> datetime:
        """Return when a pull request was first seen to have ended: now, if it was not before."""

    async def refused_until(self, issue_key: str) -> datetime | None:
        """Return until when the last no to the issue holds, or None if there was none."""

    async def claim(self, thing: str, claim: Claim, instead_of: Claim | None = None) -> Claim:
        """Take a thing for a run and return who holds it then; `instead_of` may be replaced."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A change that is about to become a plan: what every check looks at.

    `before` and `modes` hold the touched files at the base commit, `after` what they become: no
    file at all where an edit cannot be made.
    `around` is what was asked of the world about it, `past` what the commits did that edits undo.
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
    around: Surroundings = field(default_factory=Surroundings)
    past: tuple[Step, ...] = ()


class Consequence(StrEnum):
    """What a failed check leads to.

    To look again rules the cause out, to refresh does not: it may be what it was, or gone. With
    care the change goes on to people, shown as failed and with more risk.
    """

    LOOK_AGAIN = "look_again"
    REFRESH = "refresh"
    ESCALATE = "escalate"
    NO_CHANGE = "no_change"
    WITH_CARE = "with_care"


class Check(Protocol):
    """One deterministic question about a change."""

    @property
    def name(self) -> str:
        """What people and results call it."""

    @property
    def severity(self) -> CheckSeverity:
        """How much hangs on it."""

    @property
    def needs(self) -> str:
        """What it has to know, and what is unknown without."""

    @property
    def consequence(self) -> Consequence:
        """What becomes of the run when it fails."""

    @property
    def reason(self) -> EndReason:
        """Why the run ends, where it does."""

    @property
    def code(self) -> FailureCode:
        """What kind of failure it finds; an answer may name another."""

    @property
    def action(self) -> str:
        """What a person can do about a failure."""

    def run(self, change: Proposed) -> CheckResult:
        """Answer it: pass, fail or unknown, with the reason. No IO."""
