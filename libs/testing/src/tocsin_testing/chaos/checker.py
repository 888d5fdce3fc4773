"""Judge a history by the promises, from nothing but what it left behind."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from tocsin_contracts import (
    AlertAccepted,
    ApprovalGranted,
    Event,
    PlanDrafted,
    PullRequestOpened,
    PullRequestUpdated,
    RunFinished,
    RunId,
    RunState,
)
from tocsin_contracts.operations import DeadLetterReplayed
from tocsin_contracts.views import DecisionKind
from tocsin_testing.chaos.history import Committed, History

S = RunState
RESTING = frozenset(s for s in S if s.terminal) | {S.PR_OPEN, S.PR_MERGED}
"""Where a run may be for long without anybody having to do something."""

LEGAL: Mapping[RunState, frozenset[RunState]] = {
    S.RECEIVED: frozenset(),
    S.INVESTIGATING: frozenset({S.VALIDATING}),
    S.VALIDATING: frozenset({S.RECEIVED, S.INVESTIGATING, S.AWAITING_APPROVAL, *RESTING})
    - {s for s in S if s.terminal},
    S.AWAITING_APPROVAL: frozenset({S.VALIDATING, S.AWAITING_APPROVAL}),
    S.PR_OPEN: frozenset({S.VALIDATING, S.AWAITING_APPROVAL, S.PR_OPEN}),
    S.PR_MERGED: frozenset({S.VALIDATING, S.AWAITING_APPROVAL, S.PR_OPEN}),
}
"""From where the facts of a run may lead to a state; to its end they lead from any open one."""


def violations(history: History) -> list[str]:
    """Return a sentence for everything that breaks a promise, each with the number of its law."""
    return [f"{law.__name__}: {broken}" for law in LAWS for broken in law(history)]


def i1_nothing_taken_is_lost(history: History) -> Iterator[str]:
    """An alert that was answered with 2xx has a run."""
    known = {fact.run_id for fact in history.facts if isinstance(fact, AlertAccepted)}
    for run_id in sorted(set(history.taken) - known):
        yield f"run {run_id} was promised and nobody heard of it"


def i2_one_pull_request_and_one_commit(history: History) -> Iterator[str]:
    """An issue has at most one open pull request, and a plan at most one commit."""
    issues = {plan.plan.head_branch: plan.plan.issue_key for plan in _of(history, PlanDrafted)}
    opened = Counter(issues.get(one.branch, one.branch) for one in history.pulls if one.is_open)
    for issue, count in opened.items():
        if count > 1:
            yield f"issue {issue} has {count} open pull requests"
    of_plan: dict[str, set[str]] = defaultdict(set)
    for one in history.commits:
        of_plan[one.plan_hash].add(one.commit)
    for told in _of(history, PullRequestOpened, PullRequestUpdated):
        of_plan[told.plan_hash].add(told.commit)
    for plan_hash, commits in of_plan.items():
        if len(commits) > 1:
            yield f"plan {plan_hash[:12]} became {len(commits)} commits"


def i3_no_write_without_a_yes(history: History) -> Iterator[str]:
    """What was written was approved before, by a person, as exactly that plan."""
    plans = {fact.plan.plan_hash: fact.plan for fact in _of(history, PlanDrafted)}
    granted = {fact.decision.plan_hash for fact in _of(history, ApprovalGranted)}
    for one in history.commits:
        plan = plans.get(one.plan_hash)
        if plan is None or (plan.head_branch, plan.parent_sha) != (one.branch, one.parent):
            yield f"commit {one.commit[:12]} on {one.branch} is no plan that anybody drafted"
        elif one.plan_hash not in granted or not _was_wanted(history, one):
            yield f"commit {one.commit[:12]} of plan {one.plan_hash[:12]} was written unapproved"


def i3_no_branch_is_moved_by_force(history: History) -> Iterator[str]:
    """A branch of ours only ever grows."""
    for one in history.commits:
        if one.old and one.parent != one.old:
            yield f"{one.branch} was moved from {one.old[:12]} to {one.commit[:12]}"


def i4_every_run_comes_to_rest(history: History) -> Iterator[str]:
    """Every run ends, or has its pull request, and an end says why."""
    for run_id, moves in _moves(history).items():
        state = moves[-1].state
        if state not in RESTING:
            yield f"run {run_id} is left as {state.value if state else 'nothing'}"
    for ending in _of(history, RunFinished):
        if not ending.sentence.strip():
            yield f"run {ending.run_id} ended as {ending.outcome.value} without a sentence"


def i5_every_path_is_legal(history: History) -> Iterator[str]:
    """No two facts make the same version true, and each step is one that there is."""
    for run_id, moves in _moves(history).items():
        reopened = {fact.run_version for fact in _reopenings(history, run_id)}
        for before, after in pairwise(moves):
            if before.run_version == after.run_version:
                yield f"run {run_id} has version {after.run_version} twice"
            elif not _may_follow(before, after, reopened):
                yield f"run {run_id} went from {before.state} to {after.state} by {after.topic}"


def i5_an_id_is_one_fact(history: History) -> Iterator[str]:
    """Whoever says a thing twice says the same thing."""
    kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for fact in history.facts:
        kinds[fact.id].add((fact.topic, fact.run_id))
    for name, said in kinds.items():
        if len(said) > 1:
            yield f"id {name} stands for {sorted(said)}"


def i6_no_secret_is_shown(history: History) -> Iterator[str]:
    """No configured secret is in any text."""
    facts = "\n".join(fact.model_dump_json() for fact in history.facts) if history.secrets else ""
    for place, text in {"the event stream": facts, **history.places}.items():
        for number, secret in enumerate(history.secrets):
            if secret in text:
                yield f"secret number {number} stands in {place}"


def i7_people_see_the_truth(history: History) -> Iterator[str]:
    """A channel shows each run once, as it is."""
    ends = {run_id: moves[-1].state for run_id, moves in _moves(history).items()}
    for run_id, count in Counter(card.run_id for card in history.cards).items():
        if count > 1:
            yield f"run {run_id} has {count} messages"
    for card in history.cards:
        if card.state is not ends.get(card.run_id):
            yield f"run {card.run_id} is shown as {card.state}, and is {ends.get(card.run_id)}"


def i8_everything_drains(history: History) -> Iterator[str]:
    """After the faults nothing waits, and nobody had to give up."""
    yield from (f"{name} has {count} left" for name, count in sorted(history.waiting.items()))
    yield from (f"a message was given up: {cause}" for cause in history.parked)


LAWS: tuple[Callable[[History], Iterable[str]], ...] = (
    i1_nothing_taken_is_lost,
    i2_one_pull_request_and_one_commit,
    i3_no_write_without_a_yes,
    i3_no_branch_is_moved_by_force,
    i4_every_run_comes_to_rest,
    i5_every_path_is_legal,
    i5_an_id_is_one_fact,
    i6_no_secret_is_shown,
    i7_people_see_the_truth,
    i8_everything_drains,
)


def _moves(history: History) -> dict[RunId, list[Event]]:
    """Return what moved each run, by the version it made true; a copy counts once."""
    seen: dict[RunId, dict[str, Event]] = defaultdict(dict)
    for fact in history.facts:
        if fact.state is not None:
            seen[fact.run_id].setdefault(fact.id, fact)
    return {
        run_id: sorted(facts.values(), key=lambda fact: fact.run_version)
        for run_id, facts in seen.items()
    }


def _may_follow(before: Event, after: Event, reopened: set[int]) -> bool:
    if before.state is None or after.state is None:
        return False
    if before.state.terminal:
        return any(before.run_version < version <= after.run_version for version in reopened)
    return after.state.terminal or before.state in LEGAL.get(after.state, frozenset())


def _reopenings(history: History, run_id: RunId) -> list[DeadLetterReplayed]:
    return [f for f in _of(history, DeadLetterReplayed) if f.run_id == run_id and f.reopens]


def _was_wanted(history: History, one: Committed) -> bool:
    """Whether somebody had begun to say yes to the plan before it was written."""
    return any(
        said.plan_hash == one.plan_hash
        and said.answer is DecisionKind.GRANTED
        and said.at <= one.at
        for said in history.said
    )


def _of(history: History, *kinds: type) -> Iterator[Any]:
    return (fact for fact in history.facts if isinstance(fact, kinds))
