"""What the pages read: the runs that wait for a person, and one run with all that is known."""

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin_contracts import (
    AlertAccepted,
    ApprovalRequested,
    Claim,
    Event,
    Finding,
    HypothesisFormed,
    Plan,
    PlanDrafted,
    RunId,
    RunState,
)
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested
from tocsin_contracts.views import ApprovalState, RunSummary, RunView
from tocsin_gateway import pulls, refusals, views
from tocsin_gateway.ports import SUMMED_UP, Approvals, LateNews, Runs, Tallies
from tocsin_kit.approvals import Approval
from tocsin_kit.run_view import Run

MOST_WAITING = 200

_SOON = (RunState.AWAITING_APPROVAL, RunState.APPLYING)
_ASKING = (RunState.AWAITING_APPROVAL, RunState.VALIDATING)
_AMENDING = (AmendmentRequested, AmendmentRefused, PlanDrafted, HypothesisFormed)
_SAID = {
    ApprovalState.GRANTED: (
        "You approved this plan. The change is made next; this page says how it went."
    ),
    ApprovalState.DENIED: "You rejected this plan.",
}
_YES = "You said yes. It takes more people: the plan still waits for them."


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked: a plan, why, and until when."""

    asked: ApprovalRequested
    approval: Approval

    @property
    def run_id(self) -> RunId:
        """The run that asks."""
        return self.asked.run_id

    @property
    def title(self) -> str:
        """What the alert was called."""
        return self.asked.alert.title

    @property
    def plan(self) -> Plan:
        """Exactly the plan that a yes would go to."""
        return self.asked.plan


@dataclass(frozen=True, slots=True)
class Waiting(Question):
    """A question in a list; `mine` says whether the reader may answer it."""

    line: RunSummary
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
    def question(self) -> Question | None:
        """What people are asked about it now; None if no decision would be taken."""
        asked, approval = self.run.fact(ApprovalRequested), self.approval
        if self.run.state is not RunState.AWAITING_APPROVAL or not asked or not approval:
            return None
        return Question(asked, approval) if approval.state is ApprovalState.PENDING else None

    def said(self, who: str) -> str:
        """Say what somebody has decided about its newest plan; empty for who has not."""
        decided = self.approval
        if decided is None or (
            decided.state is ApprovalState.GRANTED and self.run.state not in _SOON
        ):
            return ""
        if decided.decided_by == who:
            return _SAID.get(decided.state, "")
        waits = decided.state is ApprovalState.PENDING
        return _YES if waits and who in {one.by for one in decided.decisions} else ""

    @property
    def amendment(self) -> AmendmentRequested | AmendmentRefused | None:
        """What was last heard of other values for the plan that waits, or waited until then."""
        told = [fact for fact in self.events if isinstance(fact, _AMENDING)]
        last = told[-1] if told and self.run.state in _ASKING else None
        return last if isinstance(last, AmendmentRequested | AmendmentRefused) else None

    @property
    def events(self) -> list[Event]:
        """Its facts in the order in which they happened."""
        return self.run.told

    @property
    def cited(self) -> frozenset[str]:
        """The ids of the evidence that something on its page rests on."""
        found, none = self.view.hypothesis, self.view.inconclusive
        rests: list[Finding | Claim] = list(none.candidates) if none else []
        if found:
            rests += [found.finding, *found.alternatives, *found.claims]
        return frozenset(evidence for one in rests for evidence in one.evidence)

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
        return Waiting(asked, approval, line, who in approval.approvers)


def _source(run: Run) -> str:
    accepted = run.fact(AlertAccepted)
    return accepted.alert.source if accepted else ""
