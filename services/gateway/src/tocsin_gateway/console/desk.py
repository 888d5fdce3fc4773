"""What the pages read: the runs that wait for a person, and one run with all that is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tocsin_contracts import AlertAccepted, ApprovalRequested, Event, Plan, RunId, RunState
from tocsin_contracts.views import ApprovalState, RunSummary, RunView
from tocsin_gateway import pulls, refusals, views
from tocsin_gateway.ports import SUMMED_UP, Approvals, LateNews, Runs, Tallies
from tocsin_kit.approvals import Approval
from tocsin_kit.run_view import Run

MOST_WAITING = 200


@dataclass(frozen=True, slots=True)
class Waiting:
    """A plan that waits for a decision; `mine` says whether the reader may take it."""

    line: RunSummary
    plan: Plan
    asked_at: datetime
    approval: Approval
    mine: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a list, with where its alert came from."""

    line: RunSummary
    source: str


@dataclass(frozen=True, slots=True)
class Look:
    """One run as its page shows it."""

    run: Run
    view: RunView
    approval: Approval | None

    @property
    def waits(self) -> bool:
        """Whether a decision about its plan would be taken."""
        asked = self.run.state is RunState.AWAITING_APPROVAL
        return asked and self.approval is not None and self.approval.state is ApprovalState.PENDING

    @property
    def asked(self) -> ApprovalRequested | None:
        """The request for a decision about the plan, if there was one."""
        return self.run.fact(ApprovalRequested)

    @property
    def events(self) -> list[Event]:
        """Its facts in their order: of each kind the newest."""
        return sorted(self.run.facts.values(), key=lambda fact: fact.at)

    @property
    def pull_news(self) -> list[tuple[Event, str]]:
        """What became of its pull request, in sentences."""
        told = [(fact, pulls.sentence(fact)) for fact in self.events]
        return [(fact, words) for fact, words in told if words]


class Desk:
    """Reads runs for the pages. Raises TransientError when the store does not answer."""

    def __init__(self, runs: Runs, approvals: Approvals, tallies: Tallies, news: LateNews) -> None:
        self._runs = runs
        self._approvals = approvals
        self._tallies = tallies
        self._news = news

    async def inbox(self, who: str) -> list[Waiting]:
        """Return the plans that wait, those for the reader first; what expires first leads."""
        kinds: list[type[Event]] = [*SUMMED_UP, ApprovalRequested]
        runs = await self._runs.recent(MOST_WAITING, RunState.AWAITING_APPROVAL, kinds=kinds)
        found = [one for run in runs if (one := await self._waiting(run, who))]
        return sorted(found, key=lambda one: (not one.mine, one.approval.expires_at))

    async def listed(self, limit: int, state: RunState | None = None) -> Sequence[Listed]:
        """Return the newest runs, of one state only if one is given."""
        runs = await self._runs.recent(limit, state, kinds=SUMMED_UP)
        tallies = await self._tallies.many([(views.incident_key(run), run.id) for run in runs])
        lines = zip(runs, map(views.summary, runs, tallies), strict=True)
        return [Listed(line, _source(run)) for run, line in lines if line]

    async def look(self, run_id: str) -> Look:
        """Return one run; RefusedError if nobody knows it."""
        run = await self._runs.get(RunId(run_id))
        if run is None:
            raise refusals.unknown_run(run_id)
        asked = run.fact(ApprovalRequested)
        approval = await self._approvals.get(run.id, asked.plan.plan_hash) if asked else None
        tally = await self._tallies.one(views.incident_key(run), run.id)
        view = views.detail(run, approval, tally, await self._news.of(run.id))
        if view is None:
            raise refusals.unknown_run(run_id)
        return Look(run, view, approval)

    async def _waiting(self, run: Run, who: str) -> Waiting | None:
        asked, line = run.fact(ApprovalRequested), views.summary(run)
        approval = await self._approvals.get(run.id, asked.plan.plan_hash) if asked else None
        if asked is None or line is None or approval is None:
            return None
        if approval.state is not ApprovalState.PENDING:
            return None
        return Waiting(line, asked.plan, asked.at, approval, who in approval.approvers)


def _source(run: Run) -> str:
    accepted = run.fact(AlertAccepted)
    return accepted.alert.source if accepted else ""
