"""The same alert again, and people on the forge: from the hypothesis to what is written there."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_contracts import (
    CauseClass,
    EndReason,
    FixIneffective,
    FoundPull,
    HypothesisRejected,
    Intent,
    PlanDrafted,
    PlanStale,
    PullRequestCommented,
    PullRequestFound,
    PullRequestOpened,
    PullRequestUpdated,
    RunEscalated,
    RunFinished,
    RunState,
    RunSuperseded,
)
from tocsin_contracts.views import DecisionKind
from tocsin_gitops import hashing
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import TransientError
from tocsin_testing import build


def ended(world, run_id, outcome, reason) -> str:
    finished = world.runs.runs[run_id].fact(RunFinished)
    assert (finished.outcome, finished.reason) == (outcome, reason)
    return finished.sentence


async def cancelled(world, run_id):
    """End a run whose pull request stays open, as when a person stops it."""
    stopped = build.run_cancel_requested(run_id=run_id)
    await world.note(run_id, [await world.action().on_run_cancel_requested(stopped)])


async def found(world, event):
    """Let action hear of what validation found."""
    assert isinstance(event, PullRequestFound)
    return await world.note(event.run_id, await world.following().on_pull_request_found(event))


async def test_p2_fired_again_with_a_sufficient_pull_request_is_one_comment_and_no_commit(world):
    opened = await world.proposed("r1")
    await cancelled(world, "r1")
    (event,) = await world.fire("r2")
    assert (event.found, event.url) == (FoundPull.SUFFICIENT, opened.url)
    (said,) = await found(world, event)
    assert isinstance(said, PullRequestCommented)
    world.saver = InMemorySaver()
    await found(world, event)
    assert len(world.forge.said) == len(world.forge.asked) == 1
    assert world.runs.runs["r2"].state is RunState.PR_OPEN


async def test_each_episode_is_said_once(world):
    await world.proposed("r1")
    for run_id in ("r1", "r2"):
        await cancelled(world, run_id)
        (event,) = await world.fire(f"r{int(run_id[1:]) + 1}")
        await found(world, event)
    assert len(world.forge.said) == 2


async def test_p2_an_insufficient_pull_request_gets_one_more_commit_after_a_new_approval(world):
    opened = await world.proposed("r1")
    await cancelled(world, "r1")
    (drafted,) = await world.fire("r2", new="384Mi")
    plan = drafted.plan
    assert (plan.intent, plan.parent_sha) == (Intent.INCREMENT, opened.commit)
    assert plan.parent_sha != plan.base_sha
    changed = [line.split()[-4] for line in plan.diff.splitlines() if "be careful" in line]
    assert changed == ['"256Mi"', '"384Mi"']
    assert "the undo below takes back that one alone" in plan.body
    assert len(world.forge.asked) == 1, "nothing is written before the yes"
    updated = await world.write(drafted)
    assert isinstance(updated, PullRequestUpdated)
    assert (updated.url, updated.commit) == (opened.url, world.pull().commit)
    assert updated.commit != opened.commit
    assert world.pull().title == plan.title
    files = await world.repositories.files(world.gitops.repositories[0], updated.commit)
    assert b"384Mi" in files[world.file].data


async def test_p2_an_increment_that_is_granted_twice_is_one_commit(world):
    await world.proposed("r1")
    await cancelled(world, "r1")
    (drafted,) = await world.fire("r2", new="384Mi")
    granted = await world.decide(drafted)
    first = await world.action().on_approval_granted(granted)
    world.saver = InMemorySaver()
    again = await world.action().on_approval_granted(granted)
    assert (again.commit, again.url) == (first.commit, first.url)
    assert world.pull().commit == first.commit


async def test_p3_an_increment_without_an_approval_of_its_own_is_not_written(world):
    await world.proposed("r1")
    await cancelled(world, "r1")
    (drafted,) = await world.fire("r2", new="384Mi")
    granted = await world.decide(drafted)
    del world.approvals.approvals["r2", drafted.plan.plan_hash]
    answer = await world.action().on_approval_granted(granted)
    assert isinstance(answer, PlanStale)
    assert len(world.forge.asked) == 1


@pytest.mark.parametrize("what", ["pushed", "closed", "forgotten"])
async def test_f19_what_people_do_between_the_yes_and_the_increment_stops_it(world, what):
    opened = await world.proposed("r1")
    await cancelled(world, "r1")
    (drafted,) = await world.fire("r2", new="384Mi")
    granted = await world.decide(drafted)
    if what == "pushed":
        world.repositories.push(world.repo, opened.head_branch, {"README.md": b"x"})
    elif what == "closed":
        world.repositories.change(world.repo, opened.head_branch, state=PullState.CLOSED)
    else:
        world.issues.__init__()
    head = world.pull().commit
    answer = await world.action().on_approval_granted(granted)
    assert isinstance(answer, PlanStale | RunFinished)
    assert world.pull().commit == head


async def test_p9_small_steps_do_not_add_up_to_more_than_the_policy_allows(world):
    await world.proposed("r1", new="512Mi")
    await cancelled(world, "r1")
    told, _ = await world.fire("r2", new="2Gi")
    assert isinstance(told, RunEscalated)
    assert told.reason is EndReason.POLICY_DENIED


async def test_p3_a_comment_goes_only_on_what_a_granted_approval_made(world):
    opened = await world.proposed("r1")
    await cancelled(world, "r1")
    (event,) = await world.fire("r2")
    world.approvals.approvals.clear()
    assert await found(world, event) == []
    assert world.forge.said == {}
    assert world.pull().url == opened.url


async def test_f19_human_commits_on_our_branch_are_left_alone_and_said_so_once(world):
    opened = await world.proposed("r1")
    await cancelled(world, "r1")
    theirs = world.repositories.push(world.repo, opened.head_branch, {"README.md": b"mine\n"})
    (event,) = await world.fire("r2", new="384Mi")
    assert event.found is FoundPull.HANDS_OFF
    said, _ = await found(world, event)
    assert isinstance(said, PullRequestCommented)
    assert "no commit of ours" in ended(world, "r2", RunState.ESCALATED, EndReason.BRANCH_TAKEN)
    assert world.pull().commit == theirs
    assert len(world.forge.asked) == 1


async def test_a_lost_record_means_hands_off_and_never_overwrites(world):
    await world.proposed("r1")
    await cancelled(world, "r1")
    world.issues.__init__()
    (event,) = await world.fire("r2", new="384Mi")
    assert event.found is FoundPull.HANDS_OFF


async def test_d4_closed_by_a_person_and_fired_three_times_is_no_new_pull_request(world):
    opened = await world.proposed("r1")
    world.repositories.change(
        world.repo, opened.head_branch, state=PullState.CLOSED, ended_by="ana"
    )
    world.repositories.branches[world.repo, opened.head_branch] = None
    await world.ring()
    sentence = ended(world, "r1", RunState.PR_CLOSED, EndReason.CLOSED_BY_PERSON)
    assert "by ana" in sentence
    for run_id in ("r2", "r3", "r4"):
        world.clock.advance(3600)
        (event,) = await world.fire(run_id)
        sentence = ended(world, run_id, RunState.SUPPRESSED, EndReason.CLOSED_BY_PERSON)
        assert f"before {event.reopens_at:%Y-%m-%d %H:%M} UTC" in sentence
        assert event.reopens_at == world.runs.runs["r1"].fact(RunFinished).reopens_at
    assert len(world.forge.asked) == 1


async def test_after_the_cool_down_the_next_branch_is_proposed(world):
    opened = await world.proposed("r1")
    world.repositories.change(world.repo, opened.head_branch, state=PullState.CLOSED)
    await world.ring()
    world.clock.advance(timedelta(hours=24).total_seconds())
    again = await world.proposed("r2")
    assert isinstance(again, PullRequestOpened)
    assert again.head_branch == f"{opened.head_branch}-2"
    assert hashing.is_branch_of(again.head_branch, again.issue_key)


async def test_a_fresh_merge_is_waited_for_and_then_the_next_branch_is_proposed(world):
    opened = await world.proposed("r1")
    merged = world.repositories.merge(world.repo, opened.head_branch, ended_at=world.clock.now())
    await cancelled(world, "r1")
    world.repositories.commit(world.repo, {world.file: world.manifest})
    with pytest.raises(TransientError, match="whether it helps is to be seen") as raised:
        await world.fire("r2")
    assert raised.value.retry_in == 60
    world.clock.advance(900)
    (drafted,) = await world.validation().on_hypothesis_formed(world.formed("r2"))
    assert drafted.plan.head_branch == f"{merged.head_branch}-2"


async def test_a_third_pull_request_within_a_day_is_for_a_person(world):
    for run_id in ("r1", "r2"):
        opened = await world.proposed(run_id)
        world.repositories.merge(world.repo, opened.head_branch, ended_at=world.clock.now())
        await cancelled(world, run_id)
        world.repositories.commit(world.repo, {world.file: world.manifest})
        world.clock.advance(3600)
    await world.fire("r3")
    ended(world, "r3", RunState.ESCALATED, EndReason.TOO_MANY_PULLS)


async def test_two_runs_of_one_issue_are_one_plan_and_the_second_is_superseded(world):
    (drafted,) = await world.fire("r1")
    superseded, _ = await world.fire("r2")
    assert isinstance(drafted, PlanDrafted)
    assert isinstance(superseded, RunSuperseded)
    assert superseded.into == "r1"
    ended(world, "r2", RunState.SUPERSEDED, EndReason.SUPERSEDED_BY_RUN)


async def test_a_run_that_has_ended_holds_nothing(world):
    await world.fire("r1")
    await cancelled(world, "r1")
    (drafted,) = await world.fire("r2")
    assert isinstance(drafted, PlanDrafted)


async def test_two_causes_on_one_field_are_a_conflict_for_a_person(world):
    await world.fire("r1")
    other = build.finding(cause=CauseClass.MEMORY_LEAK)
    formed = world.formed("r2").model_copy(update={"hypothesis": build.hypothesis(finding=other)})
    await world.note("r2", [formed])
    await world.note("r2", await world.validation().on_hypothesis_formed(formed))
    sentence = ended(world, "r2", RunState.ESCALATED, EndReason.CONFLICTING_PLAN)
    assert "Run r1 has a plan of its own for" in sentence


async def test_d1_a_yes_to_one_plan_never_writes_another(world):
    """The approval names the hash of the first plan; the run holds the second by now."""
    (first,) = await world.fire("r1")
    granted = await world.decide(first)
    world.repositories.commit(world.repo, {world.file: world.manifest + "# moved\n"})
    stale = await world.action().on_approval_granted(granted)
    assert isinstance(stale, PlanStale)
    _, second = await world.note("r1", await world.validation().on_plan_stale(stale))
    assert second.plan.plan_hash != first.plan.plan_hash
    again = await world.action().on_approval_granted(granted)
    assert isinstance(again, PlanStale)
    assert world.forge.asked == []
    _, third = await world.note("r1", await world.validation().on_plan_stale(again))
    assert third.plan.plan_hash == second.plan.plan_hash


async def denied(world, drafted):
    """Have a person say no to a plan."""
    await world.decide(drafted, DecisionKind.DENIED)
    decision = build.decision(plan_hash=drafted.plan.plan_hash, decided_at=world.clock.now())
    no = build.approval_denied(run_id=drafted.run_id, decision=decision)
    await world.note(drafted.run_id, [await world.action().on_approval_denied(no)])


async def test_a_no_holds_for_the_issue_until_it_has_cooled_down(world):
    await denied(world, (await world.fire("r1"))[-1])
    until = world.clock.now() + timedelta(hours=24)
    for run_id, new in (("r2", "256Mi"), ("r3", "384Mi")):
        world.clock.advance(3600)
        (event,) = await world.fire(run_id, new)
        sentence = ended(world, run_id, RunState.SUPPRESSED, EndReason.DENIED_BY_APPROVER)
        assert f"before {until:%Y-%m-%d %H:%M} UTC" in sentence
        assert event.reopens_at == until
    world.clock.advance(timedelta(hours=22).total_seconds())
    assert isinstance((await world.fire("r4"))[-1], PlanDrafted)
    assert world.forge.asked == []


async def test_a_no_to_one_more_commit_holds_and_the_pull_request_is_followed_all_the_same(world):
    opened = await world.proposed("r1")
    await cancelled(world, "r1")
    await denied(world, (await world.fire("r2", new="384Mi"))[-1])
    await world.fire("r3", new="384Mi")
    ended(world, "r3", RunState.SUPPRESSED, EndReason.DENIED_BY_APPROVER)
    (event,) = await world.fire("r4")
    assert (event.found, event.url) == (FoundPull.SUFFICIENT, opened.url)


async def test_a_no_to_one_issue_is_none_to_another(world):
    await denied(world, (await world.fire("r1"))[-1])
    other = build.finding(cause=CauseClass.MEMORY_LEAK)
    formed = world.formed("r2").model_copy(update={"hypothesis": build.hypothesis(finding=other)})
    await world.note("r2", [formed])
    assert isinstance((await world.validation().on_hypothesis_formed(formed))[-1], PlanDrafted)


async def after_a_fix_that_did_not_help(world):
    """Bring a run to its merged fix, and its alerts to fire on."""
    opened = await world.proposed("r1")
    world.repositories.merge(world.repo, opened.head_branch, ended_at=world.clock.now())
    told = []
    while not any(isinstance(one, FixIneffective) for one in told):
        told = await world.ring()
    return told[0]


def more(run_id):
    change = build.field_change(old="256Mi", new="512Mi")
    hypothesis = build.hypothesis(finding=build.finding(change=change))
    return build.hypothesis_formed(run_id=run_id, hypothesis=hypothesis)


async def test_a_field_that_is_to_be_undone_is_not_changed_by_another_run_meanwhile(world):
    told = await after_a_fix_that_did_not_help(world)
    (undo,) = await world.note("r1", await world.validation().on_fix_ineffective(told))
    assert isinstance(undo, PlanDrafted)
    await world.note("r2", [more("r2")])
    await world.note("r2", await world.validation().on_hypothesis_formed(more("r2")))
    sentence = ended(world, "r2", RunState.ESCALATED, EndReason.CONFLICTING_PLAN)
    assert "Run r1 has a plan of its own for" in sentence


async def test_a_field_that_another_run_has_a_plan_for_is_not_undone_meanwhile(world):
    told = await after_a_fix_that_did_not_help(world)
    world.runs.runs["r1"] = build.run(*world.facts["r1"].values(), id="r1", state=RunState.FAILED)
    await world.note("r2", [more("r2")])
    (drafted,) = await world.note("r2", await world.validation().on_hypothesis_formed(more("r2")))
    assert isinstance(drafted, PlanDrafted)
    await world.note("r1", await world.validation().on_fix_ineffective(told))
    sentence = ended(world, "r1", RunState.ESCALATED, EndReason.FIX_INEFFECTIVE)
    assert "run r2 has a plan of its own for" in sentence


async def test_what_people_put_into_their_branches_is_no_markup_of_our_comment(world):
    opened = await world.proposed("r1")
    await cancelled(world, "r1")
    name = "x`@all<img src=x>[here](//evil.example)"
    world.repositories.change(world.repo, opened.head_branch, base_branch=name)
    (event,) = await world.fire("r2", new="384Mi")
    assert name in event.why
    await found(world, event)
    (said,) = world.forge.said.values()
    assert not set("`@<[]") & set(said.body)


async def test_p3_the_record_of_another_plan_stands_behind_no_comment(world):
    await world.proposed("r1")
    await cancelled(world, "r1")
    (event,) = await world.fire("r2")
    (known,) = world.approvals.approvals
    other = replace(world.approvals.approvals[known], plan_hash="0" * 64)
    world.approvals.approvals[known] = other
    assert await found(world, event) == []


class MergedMeanwhile:
    """A source whose open pull request is merged right before it is first asked for."""

    def __init__(self, world):
        self._world, self._merged = world, False

    def __getattr__(self, name):
        return getattr(self._world.repositories, name)

    async def pulls(self, repo, head_branch):
        if not self._merged:
            self._merged = True
            self._world.repositories.merge(
                repo.name, self._world.pull().head_branch, ended_at=self._world.clock.now()
            )
        return await self._world.repositories.pulls(repo, head_branch)


async def test_a_plan_is_not_drafted_on_a_base_that_changed_while_it_was_waited(world):
    await world.proposed("r1")
    await cancelled(world, "r1")
    world.source = MergedMeanwhile(world)
    with pytest.raises(TransientError, match="whether it helps is to be seen"):
        await world.fire("r2")
    world.clock.advance(900)
    (told,) = await world.validation().on_hypothesis_formed(world.formed("r2"))
    assert isinstance(told, HypothesisRejected), "what was merged is not proposed once more"
    assert told.rejected == ()
    assert world.file in told.checks[0].detail


async def test_p2_runs_of_one_issue_at_the_same_moment_are_one_plan(world):
    runs = [f"r{number}" for number in range(1, 5)]
    told = await asyncio.gather(*(world.fire(run_id) for run_id in runs))
    firsts = [type(events[0]) for events in told]
    assert sorted(one.__name__ for one in firsts) == ["PlanDrafted", *["RunSuperseded"] * 3]
