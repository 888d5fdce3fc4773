"""Histories of faults in virtual time break no promise, and a checker that finds what is broken."""

from dataclasses import replace

import pytest

from tocsin_action import nodes
from tocsin_contracts import (
    AlertAccepted,
    HypothesisFormed,
    PlanDrafted,
    PullRequestOpened,
    RunFinished,
)
from tocsin_kit.errors import PermanentError
from tocsin_kit.moves import ANY
from tocsin_testing.chaos.checker import violations
from tocsin_testing.simulation.simulate import simulate

SEEDS, TRIES = 20, 40


@pytest.fixture(scope="module")
def played():
    return [simulate(seed) for seed in range(SEEDS)]


def test_p1_to_p8_hold_in_every_simulated_history(played):
    broken = {one.seed: found for one in played if (found := violations(one.history))}
    assert broken == {}


def test_a_seed_gives_the_same_history_again(played):
    assert played[7].happened != ()
    assert simulate(7) == played[7]


def test_faults_do_happen_and_runs_come_to_many_ends(played):
    assert sum(len(one.happened) for one in played) > SEEDS
    states = {card.state for one in played for card in one.history.cards}
    assert len(states) >= 5


def publishes_twice(around):
    store = around.stream.store

    def twice(event):
        store(event)
        if isinstance(event, PullRequestOpened):
            store(event.model_copy(update={"id": f"{event.id}-again"}))

    around.stream.store = twice


def loses_a_commit(around):
    commit = around.runs.commit

    async def lossy(lease, allowed, event, outgoing):
        if any(isinstance(one, PlanDrafted) for one in outgoing):
            await around.runs.release(lease, counted=False)
            return ()
        return await commit(lease, allowed, event, outgoing)

    around.runs.commit = lossy


def loses_a_message(around):
    deliver = around.stream.deliver

    def lossy(kind, message, after=0.0, *, counted=True):
        if kind != HypothesisFormed.topic:
            deliver(kind, message, after, counted=counted)

    around.stream.deliver = lossy


def promises_too_much(around):
    store = around.stream.store

    def deaf(event):
        if not isinstance(event, AlertAccepted):
            store(event)

    around.stream.store = deaf


def commits_twice(around):
    open_pull = around.forge.open_pull

    async def twice(request):
        pull = await open_pull(request)
        again = replace(around.forge.commits[-1], commit="f" * 40)
        around.forge.commits.append(again)
        return pull

    around.forge.open_pull = twice


def opens_another(around):
    open_pull = around.forge.open_pull

    async def another(request):
        await open_pull(replace(request, head_branch="tocsin/another"))
        return await open_pull(request)

    around.forge.open_pull = another


def moves_what_has_ended(around):
    begin, commit = around.runs.begin, around.runs.commit

    async def begin_any(event, service, allowed):
        return await begin(event, service, ANY)

    async def commit_any(lease, allowed, event, outgoing):
        return await commit(lease, ANY, event, outgoing)

    around.runs.begin, around.runs.commit = begin_any, commit_any


def shows_no_end(around):
    deliver = around.stream.deliver

    def silent(kind, message, after=0.0, *, counted=True):
        if kind != RunFinished.topic:
            deliver(kind, message, after, counted=counted)

    around.stream.deliver = silent


def gives_up(around):
    async def refuse(*args, **kwargs):
        raise PermanentError("no approval can be opened")

    around.approvals.open = refuse


@pytest.mark.parametrize(
    ("bug", "law"),
    [
        (promises_too_much, "i1_nothing_taken_is_lost"),
        (commits_twice, "i2_one_pull_request_and_one_commit"),
        (opens_another, "i3_no_write_without_a_yes"),
        (loses_a_message, "i4_every_run_comes_to_rest"),
        (publishes_twice, "i5_every_path_is_legal"),
        (loses_a_commit, "i4_every_run_comes_to_rest"),
        (moves_what_has_ended, "i5_every_path_is_legal"),
        (shows_no_end, "i7_people_see_the_truth"),
        (gives_up, "i8_everything_drains"),
    ],
)
def test_the_checker_finds_a_bug_by_the_law_that_it_breaks(bug, law):
    assert is_noticed(law, bug)


def is_noticed(law, bug):
    """Whether the law is found broken in one of some histories."""
    return any(
        one.startswith(law)
        for seed in range(TRIES)
        for one in violations(simulate(seed, bug).history)
    )


def test_p3_the_checker_notices_that_the_record_of_an_approval_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(nodes, "_not_approved", lambda state, approval: "")
    assert is_noticed("i3_no_write_without_a_yes", lambda around: None)
