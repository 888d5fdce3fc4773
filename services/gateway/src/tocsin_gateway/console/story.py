"""The timeline of a run as a person reads it: the gaps are rows too, with what was waited for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tocsin_contracts import (
    AlertAccepted,
    ApprovalDenied,
    ApprovalGranted,
    ApprovalRequested,
    BudgetExhausted,
    Decision,
    Event,
    HypothesisFormed,
    IncidentOpened,
    PlanDrafted,
    PullRequestClosed,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
)
from tocsin_contracts.views import TimelineEntry
from tocsin_kit.run_view import Run

GAP = timedelta(minutes=1)

_WAITED: dict[type[Event], str] = {
    AlertAccepted: "until triage looked at it",
    IncidentOpened: "of investigation",
    HypothesisFormed: "of checks",
    PlanDrafted: "until a decision was asked for",
    ApprovalRequested: "of waiting for a decision",
    ApprovalGranted: "until the change was made",
    BudgetExhausted: "of waiting for a larger budget",
    PullRequestOpened: "of waiting for the pull request",
    PullRequestUpdated: "of waiting for the pull request",
    PullRequestMerged: "of watching whether it helped",
    PullRequestClosed: "after the pull request was closed",
}
WAITED = {event.topic: words for event, words in _WAITED.items()}


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which nothing was told."""

    lasted: timedelta
    words: str
    open: bool = False


def rows(
    timeline: Sequence[TimelineEntry], now: datetime, *, ended: bool
) -> list[TimelineEntry | Gap]:
    """Return the entries with the gaps between them; the last one goes on unless the run ended."""
    told: list[TimelineEntry | Gap] = []
    for number, entry in enumerate(timeline):
        told.append(entry)
        last = number + 1 == len(timeline)
        if last and ended:
            break
        lasted = (now if last else timeline[number + 1].at) - entry.at
        if lasted >= GAP:
            told.append(Gap(lasted, WAITED.get(entry.topic, "without news"), open=last))
    return told


def decisions(run: Run) -> list[tuple[str, Decision]]:
    """Return what people said, first one first."""
    facts = ((fact.topic, getattr(fact, "decision", None)) for fact in run.told)
    told = [(_SAID.get(topic, "said yes to"), one) for topic, one in facts if one is not None]
    return sorted(told, key=lambda one: one[1].decided_at)


_SAID = {ApprovalGranted.topic: "approved", ApprovalDenied.topic: "rejected"}
