"""What action asks of the world."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tocsin_action.arrival import Arrival
from tocsin_contracts import Alert, RunId, Target
from tocsin_contracts.views import ApprovalState
from tocsin_gitops.config import Repository
from tocsin_gitops.forges import Forge
from tocsin_gitops.objects import Commit
from tocsin_gitops.pulls import PullRequest
from tocsin_kit.approvals import Approval, Redeemed
from tocsin_kit.issues import Written
from tocsin_kit.quorum import Quorum
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally
from tocsin_kit.timers import Timer


class Approvals(Protocol):
    """The approval records: what they say is what may be written."""

    async def open(
        self,
        run_id: RunId,
        plan_hash: str,
        approvers: Iterable[str],
        expires_at: datetime,
        quorum: Quorum,
        *,
        askers: Iterable[str],
        owned: Mapping[str, Iterable[str]],
        breakers: Iterable[str],
    ) -> Approval:
        """Open the approval of a plan, or return it as it stands."""

    async def get(self, run_id: RunId, plan_hash: str) -> Approval | None:
        """Return the approval of a plan, or None: nothing was approved."""

    async def decide_by_rule(self, run_id: RunId, plan_hash: str, rule: str) -> Redeemed:
        """Approve by a rule of the operator's."""

    async def expire(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval whose time is over; returns how it stands now."""

    async def widen(
        self, run_id: RunId, plan_hash: str, who: Iterable[str]
    ) -> ApprovalState | None:
        """Let more people decide a pending approval; returns how it stands now."""

    async def withdraw(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval at once; returns how it stands now."""


class Timers(Protocol):
    """Wakes this service later."""

    async def set_timer(self, timer: Timer) -> None:
        """Store a timer."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the current time, aware."""


class Reader(Protocol):
    """Reads runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""


class Tallies(Protocol):
    """What the receiver of alerts counted."""

    async def one(self, incident_key: str, run_id: RunId) -> Tally | None:
        """Return the counts of one run, or None."""


class Source(Protocol):
    """The read side of a repository, as far as a plan is re-checked."""

    async def head(self, repo: Repository) -> str:
        """Return the commit the repository's branch is at."""

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits up to `sha`, of one file or folder if a path is given."""

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        """Return where the branch that is at `sha` was before and after it took in a commit."""

    async def leads_to(self, repo: Repository, sha: str, commit: str) -> bool:
        """Return whether a commit is another one, or comes after it; both have to be known."""

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        """Return one file at a commit, or None if it is not there."""

    async def touched_since(
        self, repo: Repository, base_sha: str, head_sha: str, paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return which of the paths differ between two commits."""

    async def pulls(self, repo: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every pull request from a branch of the repository itself, the newest first."""


class Deploying(Protocol):
    """What brings merged commits to clusters, as far as it can be asked."""

    async def arrival(self, alert: Alert, target: Target, commit: str) -> Arrival:
        """Return where a merged commit stands in the cluster of an alert; never raises."""


class Issues(Protocol):
    """What was written to forges about each issue."""

    async def written(self, issue_key: str) -> tuple[Written, ...]:
        """Return our commits about an issue, the oldest first."""

    async def ended(self, issue_key: str, url: str, now: datetime) -> datetime:
        """Return when a pull request was first seen to have ended: now, if it was not before."""

    async def refuse(self, issue_key: str, until: datetime) -> None:
        """Keep that a person said no: nothing is to be proposed for the issue before then."""


class Forges(Protocol):
    """The forges, by the host of a repository."""

    def __getitem__(self, host: str, /) -> Forge:
        """Return the forge of a host."""
