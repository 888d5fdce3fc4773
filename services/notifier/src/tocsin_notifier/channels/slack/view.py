"""A run as its message shows it: which facts hold now, and which were overtaken."""

from dataclasses import dataclass

from tocsin_contracts import (
    Alert,
    AlertAccepted,
    ApprovalRequested,
    HypothesisFormed,
    IncidentOpened,
    PullRequestFound,
    PullRequestOpened,
    PullRequestUpdated,
    RunState,
)
from tocsin_contracts.diagnosis import Hypothesis
from tocsin_contracts.views import ApprovalState
from tocsin_kit.approvals import Approval
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally

SURFACE = "slack"

BEFORE_A_PLAN = (RunState.RECEIVED, RunState.INVESTIGATING, RunState.VALIDATING)
"""In these a plan that was asked for before is asked for no more."""

Pull = PullRequestOpened | PullRequestUpdated | PullRequestFound


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One run, the approval of its plan, and what the receiver counted; `runs` of its incident."""

    run: Run
    approval: Approval | None = None
    tally: Tally | None = None
    runs: int = 1

    @property
    def alert(self) -> Alert | None:
        """The alert that opened the run."""
        known = (self.run.fact(IncidentOpened), self.run.fact(AlertAccepted))
        return next((fact.alert for fact in known if fact), None)

    @property
    def team(self) -> str:
        """Whose the incident is; empty if nobody said."""
        known = (self.asked, self.run.fact(IncidentOpened))
        return next((fact.team for fact in known if fact and fact.team), "")

    @property
    def asked(self) -> ApprovalRequested | None:
        """The plan that was put to people, unless it was overtaken."""
        if self.run.state in BEFORE_A_PLAN:
            return None
        return self.run.fact(ApprovalRequested)

    @property
    def hypothesis(self) -> Hypothesis | None:
        """What the investigation holds to be the cause."""
        known = (self.asked, self.run.fact(HypothesisFormed))
        return next((fact.hypothesis for fact in known if fact), None)

    @property
    def waits(self) -> bool:
        """Whether a person can decide now."""
        pending = self.approval is not None and self.approval.state is ApprovalState.PENDING
        return pending and self.asked is not None and self.run.state is RunState.AWAITING_APPROVAL

    @property
    def needs_console(self) -> bool:
        """Whether a yes takes more than a click in a chat."""
        return self.approval is not None and not self.approval.quorum.takes(SURFACE)

    @property
    def pull(self) -> Pull | None:
        """The pull request that the run made or found; the newest, if there are several."""
        found = [fact for fact in self.run.facts.values() if isinstance(fact, Pull)]
        return max(found, key=lambda fact: fact.at, default=None)
