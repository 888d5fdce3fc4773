"""What was written about each issue, and who holds what, in memory."""

from collections.abc import Iterable
from datetime import datetime

from tocsin_contracts import Event, PullRequestOpened, PullRequestUpdated
from tocsin_kit.issues import Claim, Written
from tocsin_testing.fakes import Outage


class FakeIssues(Outage):
    """The records of issues; `held` are the claims."""

    def __init__(self) -> None:
        self.held: dict[str, Claim] = {}
        self._written: dict[str, dict[str, Written]] = {}
        self._ended: dict[str, datetime] = {}
        self._refused: dict[str, datetime] = {}

    async def remember(self, events: Iterable[Event]) -> None:
        """Keep every commit that these events tell of."""
        for event in events:
            if isinstance(event, PullRequestOpened | PullRequestUpdated):
                written = Written(
                    commit=event.commit,
                    head_branch=event.head_branch,
                    url=event.url,
                    run_id=event.run_id,
                    plan_hash=event.plan_hash,
                    at=event.at,
                    opened=isinstance(event, PullRequestOpened),
                )
                self._written.setdefault(event.issue_key, {}).setdefault(event.commit, written)

    async def written(self, issue_key: str) -> tuple[Written, ...]:
        """Return our commits about an issue, the oldest first."""
        self._answer()
        found = self._written.get(issue_key, {}).values()
        return tuple(sorted(found, key=lambda one: (one.at, one.commit)))

    async def ended(self, issue_key: str, url: str, now: datetime) -> datetime:
        """Return when a pull request was first seen to have ended."""
        self._answer()
        return self._ended.setdefault(f"{issue_key} {url}", now)

    async def refuse(self, issue_key: str, until: datetime) -> None:
        """Keep that a person said no."""
        self._answer()
        self._refused[issue_key] = until

    async def refused_until(self, issue_key: str) -> datetime | None:
        """Return until when the last no to the issue holds, or None if there was none."""
        self._answer()
        return self._refused.get(issue_key)

    async def claim(self, thing: str, claim: Claim, instead_of: Claim | None = None) -> Claim:
        """Take a thing for a run and return who holds it then."""
        self._answer()
        if self.held.get(thing, claim) in (claim, instead_of):
            self.held[thing] = claim
        return self.held[thing]
