"""Who hears what: every route that matches names channels; where none does, the usual ones."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from tocsin_contracts import (
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    Event,
    FixIneffective,
    IncidentOpened,
    PullRequestFound,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
    RunEscalated,
    RunFinished,
    Severity,
    StormEnded,
    StormStarted,
    Value,
)
from tocsin_contracts.amending import AmendmentRefused
from tocsin_notifier.rules.standing import Standing


class About(StrEnum):
    """What a message is about."""

    OPENED = "opened"
    STORM = "storm"
    BUDGET = "budget"
    APPROVAL = "approval"
    DECISION = "decision"
    PULL_REQUEST = "pull_request"
    ENDED = "ended"
    OTHER = "other"


_ABOUT: tuple[tuple[About, tuple[type[Event], ...]], ...] = (
    (About.OPENED, (IncidentOpened,)),
    (About.STORM, (StormStarted, StormEnded)),
    (About.BUDGET, (BudgetExhausted,)),
    (About.APPROVAL, (ApprovalRequested, ApprovalReminded, ApprovalEscalated)),
    (About.DECISION, (ApprovalRecorded, ApprovalGranted, ApprovalDenied, AmendmentRefused)),
    (
        About.PULL_REQUEST,
        (
            *(PullRequestOpened, PullRequestUpdated, PullRequestFound),
            *(PullRequestMerged, FixIneffective),
        ),
    ),
    (About.ENDED, (RunEscalated, RunFinished)),
)


def about(event: Event) -> About:
    """Return what the message of an event is about."""
    return next((what for what, kinds in _ABOUT if isinstance(event, kinds)), About.OTHER)


def _listed(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Severities = Annotated[tuple[Severity, ...], BeforeValidator(_listed)]
Abouts = Annotated[tuple[About, ...], BeforeValidator(_listed)]


class Route(Value):
    """Channels for what matches all of it; what is left out matches everything."""

    model_config = ConfigDict(extra="forbid")

    team: Names = ()
    severity: Severities = ()
    environment: Names = ()
    events: Abouts = ()
    to: Names = Field(min_length=1)

    def matches(self, what: About, whose: Standing) -> bool:
        """Whether a message goes this way; a storm is about runs of everybody."""
        if self.events and what not in self.events:
            return False
        if what is About.STORM:
            return True
        wanted = (
            (self.team, whose.team),
            (self.severity, whose.severity),
            (self.environment, whose.environment),
        )
        return all(not names or value in names for names, value in wanted)


def chosen(
    routes: Sequence[Route], what: About, whose: Standing, usual: Sequence[str]
) -> tuple[str, ...]:
    """Return the channels of every route that matches, each once; the usual ones if none does."""
    named = [name for route in routes if route.matches(what, whose) for name in route.to]
    if what is About.STORM:
        named += usual
    return tuple(dict.fromkeys(named or usual))
