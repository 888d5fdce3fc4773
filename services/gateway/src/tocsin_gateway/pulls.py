"""What became of the pull request of a run, as people look at it."""

from collections.abc import Callable, Mapping
from typing import Any

from tocsin_contracts import (
    ChangeProposed,
    CommentAnswered,
    CommentIgnored,
    Event,
    FixDeployed,
    FixIneffective,
    FixVerified,
    ForgeEventReceived,
    PlanSuperseded,
    ProposalDropped,
    PullRequestClosed,
    PullRequestCommented,
    PullRequestFound,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
)
from tocsin_contracts.views import PullRequestView
from tocsin_kit.run_view import Run

Told = PullRequestOpened | PullRequestUpdated | PullRequestFound


def view(run: Run) -> PullRequestView | None:
    """Return the pull request that the run follows; one that it found has no plan of its own."""
    facts = [fact for fact in run.facts.values() if isinstance(fact, Told)]
    newest = max(facts, key=lambda fact: fact.at, default=None)
    return (
        PullRequestView.model_validate({"plan_hash": ""} | newest.model_dump()) if newest else None
    )


def sentence(fact: Event) -> str:
    """Say a fact about a pull request in a sentence; empty for any other fact."""
    say = _SENTENCES.get(type(fact))
    return say(fact) if say else ""


def _by(who: str) -> str:
    return f" by {who}" if who else ""


def _asked_by(fact: ChangeProposed) -> str:
    return fact.hypothesis.remark.author if fact.hypothesis.remark else "nobody"


_SENTENCES: Mapping[type[Event], Callable[[Any], str]] = {
    PlanSuperseded: lambda fact: (
        f"Plan {fact.by[:12]} took the place of plan {fact.plan_hash[:12]}: {fact.why}."
    ),
    PullRequestOpened: lambda fact: f"Pull request opened: {fact.url}",
    PullRequestUpdated: lambda fact: f"One more commit for {fact.url}",
    PullRequestFound: lambda fact: f"{fact.url} is open already: {fact.why}.",
    PullRequestCommented: lambda fact: (
        f"Answered a comment on {fact.url}."
        if fact.remark
        else f"Said on {fact.url} that the alert came again."
    ),
    PullRequestMerged: lambda fact: f"{fact.url} was merged{_by(fact.by)}.",
    PullRequestClosed: lambda fact: f"{fact.url} was closed without a merge{_by(fact.by)}.",
    FixDeployed: lambda fact: (
        f"{fact.by} has synced {fact.revision[:7]} at {fact.synced_at or fact.at:%H:%M} UTC."
    ),
    FixVerified: lambda fact: (
        f"The fix helped: the alerts cleared {fact.minutes:.0f} minutes after the merge."
    ),
    FixIneffective: lambda fact: f"The fix did not help: {fact.why}.",
    CommentAnswered: lambda fact: f"A comment of {fact.remark.author} was thought about.",
    CommentIgnored: lambda fact: f"A comment of {fact.remark.author} got no answer: {fact.why}.",
    ChangeProposed: lambda fact: f"A comment of {_asked_by(fact)} asked for another change.",
    ProposalDropped: lambda fact: f"Nothing comes of what a comment asked for: {fact.why}",
    ForgeEventReceived: lambda fact: (
        f"Pull request {fact.kind.value} by {fact.author.login or fact.author.id}."
    ),
}
