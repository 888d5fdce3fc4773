"""From the pull request to its end: merged, closed, proven, or undone."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tocsin_action.followed import first_look
from tocsin_contracts import (
    AlertStatus,
    EditOp,
    EndReason,
    FixIneffective,
    FixVerified,
    ForgeEventKind,
    PlanDrafted,
    PlanStale,
    PullRequestClosed,
    PullRequestMerged,
    RunEscalated,
    RunFinished,
    RunState,
    Severity,
)
from tocsin_gitops import hashing
from tocsin_gitops.objects import Commit
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import TransientError
from tocsin_kit.tally import Tally
from tocsin_kit.topology import TimerKind
from tocsin_testing import build

MINUTE = 60


def ended(world, outcome, reason, run_id="r1") -> str:
    finished = world.runs.runs[run_id].fact(RunFinished)
    assert (finished.outcome, finished.reason) == (outcome, reason)
    return finished.sentence


async def clears(world, run_id="r1"):
    """Let the alerts of a run clear now."""
    resolved = build.alert(status=AlertStatus.RESOLVED)
    cleared = build.alert_resolved(run_id=run_id, alert=resolved, at=world.clock.now())
    told = await world.action().on_alert_resolved(cleared)
    await world.note(run_id, [cleared, *([told] if told else [])])


async def fires_again(world, run_id="r1"):
    await world.note(run_id, [build.alert_repeated(run_id=run_id)])


async def merged(world, run_id="r1", **proposed):
    """Bring a run to the merge of its pull request, and see it."""
    opened = await world.proposed(run_id, **proposed)
    (timer,) = [one for one in world.timers.set if one.kind is TimerKind.PULL_LOOK]
    world.clock.advance((timer.due_at - world.clock.now()).total_seconds())
    pull = world.repositories.merge(
        world.repo, opened.head_branch, ended_at=world.clock.now(), ended_by="ana"
    )
    (told,) = await world.ring()
    assert isinstance(told, PullRequestMerged)
    assert (told.by, told.merged_commit, told.url) == ("ana", pull.merged_commit, opened.url)
    assert world.runs.runs[run_id].state is RunState.PR_MERGED
    return opened


async def test_an_open_pull_request_is_looked_at_ever_less_often_until_something_happens(world):
    await world.proposed("r1")
    gaps = []
    for _ in range(8):
        before = world.timers.set[-1].due_at
        assert await world.ring() == []
        gaps.append((world.timers.set[-1].due_at - before).total_seconds() / MINUTE)
    assert gaps[:4] == [2, 4, 8, 16]
    assert 0 < gaps[4] <= 30
    assert gaps[5:] == [30, 30, 30]


async def test_however_much_happens_to_a_pull_request_its_looks_meet_again(world):
    await world.proposed("r1")
    began = world.clock.now()
    for minute in range(20):
        at = began + timedelta(minutes=minute, seconds=minute)
        told = build.forge_event_received(run_id="r1").model_copy(update={"at": at})
        await world.following().on_forge_event(told)
    waiting, looks = world.timers.set[2:], [began]
    while looks[-1] < began + timedelta(hours=6):
        timer, *waiting = sorted(waiting, key=lambda one: one.due_at)
        looks.append(timer.due_at)
        world.clock.advance(max((timer.due_at - world.clock.now()).total_seconds(), 0))
        known = len(world.timers.set)
        await world.following().on_pull_look(timer)
        waiting += world.timers.set[known:]
    assert len([at for at in looks if at >= began + timedelta(hours=4)]) == 5


async def test_looks_that_nobody_was_there_for_are_not_made_up_for(world):
    opened = await world.proposed("r1")
    first = first_look("r1", opened.url, world.clock.now())
    world.clock.advance(timedelta(days=3).total_seconds())
    await world.following().on_pull_look(first)
    missed = world.timers.set[-1].due_at - world.clock.now()
    assert timedelta() < missed <= timedelta(minutes=2)


async def test_p5_a_look_that_comes_twice_sets_one_next_look(world):
    await world.proposed("r1")
    timer = world.timers.set[-1]
    for _ in range(3):
        assert await world.following().on_pull_look(timer) == []
    assert len([one for one in world.timers.set if one.kind is TimerKind.PULL_LOOK]) == 2


async def test_a_merge_is_seen_without_any_webhook_and_the_fix_is_proven_in_minutes(world):
    opened = await merged(world)
    world.clock.advance(7 * MINUTE)
    await clears(world)
    assert world.runs.runs["r1"].state is RunState.PR_MERGED
    assert world.timers.set[-1].due_at == world.clock.now() + timedelta(minutes=15)
    verified, _ = await world.ring()
    assert isinstance(verified, FixVerified)
    assert (verified.url, verified.minutes) == (opened.url, 7)
    sentence = ended(world, RunState.RESOLVED, EndReason.FIX_VERIFIED)
    assert "7 minutes after" in sentence


async def test_alerts_that_had_cleared_before_the_merge_prove_nothing(world):
    await world.proposed("r1")
    await clears(world)
    assert world.runs.runs["r1"].state is RunState.PR_OPEN, "the pull request is followed on"
    world.clock.advance(MINUTE)
    world.repositories.merge(world.repo, world.pull().head_branch, ended_at=world.clock.now())
    await world.ring()
    await world.ring()
    assert "had cleared before" in ended(world, RunState.RESOLVED, EndReason.ALERT_CLEARED)
    assert world.runs.runs["r1"].fact(FixVerified) is None


async def test_an_alert_that_flaps_is_believed_only_once_it_stays_clear(world):
    await merged(world)
    world.clock.advance(5 * MINUTE)
    await clears(world)
    world.clock.advance(5 * MINUTE)
    await fires_again(world)
    assert await world.ring() == [], "it fires when it is looked at"
    await clears(world)
    verified, _ = await world.ring()
    assert verified.minutes == 20


async def test_a_look_that_comes_early_by_the_clock_of_this_machine_is_tried_again(world):
    await merged(world)
    with pytest.raises(TransientError, match="too early"):
        await world.following().on_fix_look(world.timers.set[-1])


async def ineffective(world, **proposed):
    """Bring a run to the end of patience, with its alerts firing."""
    opened = await merged(world, **proposed)
    assert await world.ring() == [], "the merge may take its time to reach the cluster"
    (told,) = await world.ring()
    assert isinstance(told, FixIneffective)
    assert told.url == opened.url
    assert "still fire 25 minutes after the merge" in told.why
    assert world.runs.runs["r1"].state is RunState.VALIDATING
    return told


async def test_a_fix_that_did_not_help_gets_an_undo_with_a_branch_and_a_yes_of_its_own(
    world,
):
    told = await ineffective(world)
    fixed = told.plan
    (drafted,) = await world.note("r1", await world.validation().on_fix_ineffective(told))
    plan = drafted.plan
    assert plan.issue_key == f"{fixed.issue_key}|undo"
    assert plan.head_branch != fixed.head_branch
    assert plan.plan_hash == hashing.plan_hash(plan, "r1")
    assert plan.title == f"Undo: {fixed.title}"
    assert f"- {told.url} was merged" in plan.body
    shown = [line for line in plan.body.splitlines() if line.startswith("+ ")]
    assert [line.strip("+ ") for line in shown] == ['memory: "256Mi"  # be careful']
    assert len(world.forge.asked) == 1, "nothing is written before the yes"
    opened = await world.write(drafted)
    assert opened.head_branch == plan.head_branch
    files = await world.repositories.files(world.gitops.repositories[0], opened.commit)
    assert files[world.file].data == world.manifest.encode()


async def test_an_undo_that_people_merge_ends_the_run_with_a_person(world):
    told = await ineffective(world)
    (drafted,) = await world.note("r1", await world.validation().on_fix_ineffective(told))
    opened = await world.write(drafted)
    world.repositories.merge(world.repo, opened.head_branch, ended_at=world.clock.now())
    merge, _ = await world.ring()
    assert isinstance(merge, PullRequestMerged)
    assert opened.url in ended(world, RunState.ESCALATED, EndReason.FIX_INEFFECTIVE)


async def test_an_undo_whose_base_moved_is_drafted_anew_as_an_undo(world):
    told = await ineffective(world)
    (drafted,) = await world.note("r1", await world.validation().on_fix_ineffective(told))
    granted = await world.decide(drafted)
    files = await world.repositories.files(
        world.gitops.repositories[0], await world.repositories.head(world.gitops.repositories[0])
    )
    world.repositories.commit(world.repo, {world.file: files[world.file].data + b"# moved\n"})
    stale = await world.action().on_approval_granted(granted)
    assert isinstance(stale, PlanStale)
    (again,) = await world.validation().on_plan_stale(stale)
    assert isinstance(again, PlanDrafted)
    assert again.plan.plan_hash != drafted.plan.plan_hash
    assert hashing.is_undo(again.plan.issue_key)


@pytest.mark.parametrize("what", ["changed by hand", "undone by hand", "file gone"])
async def test_an_undo_that_would_not_be_exact_is_left_to_a_person(world, what):
    told = await ineffective(world)
    now = {
        "changed by hand": world.manifest.replace("128Mi", "384Mi"),
        "undone by hand": world.manifest,
        "file gone": "kind: Service\nmetadata: {name: x}\n",
    }
    world.repositories.commit(world.repo, {world.file: now[what]})
    escalated, _ = await world.note("r1", await world.validation().on_fix_ineffective(told))
    assert isinstance(escalated, RunEscalated)
    sentence = ended(world, RunState.ESCALATED, EndReason.FIX_INEFFECTIVE)
    assert "No undo is proposed: " in sentence
    assert len(world.forge.asked) == 1


async def test_what_has_no_exact_undo_is_left_to_a_person(world):
    told = await ineffective(world)
    plan = told.plan.model_copy(update={"edits": (build.edit(op=EditOp.APPEND),)})
    events = await world.validation().on_fix_ineffective(told.model_copy(update={"plan": plan}))
    assert isinstance(events[0], RunEscalated)


async def test_an_undo_names_the_commit_that_it_undoes_where_the_history_shows_it(world):
    told = await ineffective(world)
    commit = told.commits[-1]
    parent = world.repositories.commit("past", {world.file: world.manifest})
    world.repositories.log = [
        Commit(commit, parent, "ana", world.clock.now(), "merge", (world.file,))
    ]
    (drafted,) = await world.validation().on_fix_ineffective(told)
    assert [edit.undo_of for edit in drafted.plan.edits] == [commit]


async def test_the_fix_of_another_run_is_not_undone_by_one_that_only_followed_it(world):
    await world.proposed("r1")
    stopped = build.run_cancel_requested(run_id="r1")
    await world.note("r1", [await world.action().on_run_cancel_requested(stopped)])
    (found,) = await world.fire("r2")
    await world.note("r2", await world.following().on_pull_request_found(found))
    world.repositories.merge(world.repo, found.head_branch, ended_at=world.clock.now())
    for _ in range(3):
        await world.ring()
    sentence = ended(world, RunState.ESCALATED, EndReason.FIX_INEFFECTIVE, "r2")
    assert "undo it by hand" in sentence


async def test_a_pull_request_that_a_person_closes_ends_the_run_with_who_and_until_when(world):
    opened = await world.proposed("r1")
    closed_at = world.clock.now() + timedelta(seconds=30)
    world.repositories.change(
        world.repo,
        opened.head_branch,
        state=PullState.CLOSED,
        ended_at=closed_at,
        ended_by="ana",
    )
    closed, finished = await world.ring()
    assert isinstance(closed, PullRequestClosed)
    assert (closed.by, closed.closed_at) == ("ana", closed_at)
    assert finished.reopens_at == closed.until == closed_at + timedelta(hours=24)
    sentence = ended(world, RunState.PR_CLOSED, EndReason.CLOSED_BY_PERSON)
    assert "closed by ana" in sentence
    assert f"{closed.until:%Y-%m-%d %H:%M} UTC" in sentence


@pytest.mark.parametrize(
    "kind", [ForgeEventKind.MERGED, ForgeEventKind.CLOSED, ForgeEventKind.PUSHED]
)
async def test_what_a_forge_sends_only_says_when_to_look(world, kind):
    opened = await world.proposed("r1")
    told = build.forge_event_received(run_id="r1", url="https://evil.example/1")
    lie = told.model_copy(update={"kind": kind})
    for _ in range(2):
        await world.following().on_forge_event(lie)
    assert world.timers.set[-1].due_at == lie.at
    assert len([one for one in world.timers.set if one.kind is TimerKind.PULL_LOOK]) == 2
    assert await world.following().on_pull_look(world.timers.set[-1]) == []
    assert world.pull().url == opened.url


async def test_what_a_forge_sends_about_strangers_comments_and_ended_runs_sets_no_timer(world):
    await world.proposed("r1")
    known = len(world.timers.set)
    following = world.following()
    await following.on_forge_event(build.forge_event_received(run_id="f123"))
    told = build.forge_event_received(run_id="r1")
    comment = told.model_copy(update={"kind": ForgeEventKind.COMMENTED})
    await following.on_forge_event(comment)
    stopped = build.run_cancel_requested(run_id="r1")
    await world.note("r1", [await world.action().on_run_cancel_requested(stopped)])
    await following.on_forge_event(build.forge_event_received(run_id="r1"))
    assert len(world.timers.set) == known


async def test_looks_that_come_after_the_end_find_nothing_to_do(world):
    await merged(world)
    await clears(world)
    await world.ring()
    while world.runs.runs["r1"].state is not RunState.RESOLVED:
        await world.ring()
    following = world.following()
    for timer in world.timers.set:
        looks = {
            TimerKind.PULL_LOOK: following.on_pull_look,
            TimerKind.FIX_LOOK: following.on_fix_look,
        }
        if timer.kind in looks:
            assert await looks[timer.kind](timer) == []


async def test_a_look_at_what_is_still_being_written_waits_for_it(world):
    await world.proposed("r1")
    timer = world.timers.set[-1]
    drafted = world.runs.runs["r1"].fact(PlanDrafted)
    world.runs.runs["r1"] = build.run(drafted, id="r1", state=RunState.APPLYING)
    with pytest.raises(TransientError, match="being written"):
        await world.following().on_pull_look(timer)


async def test_a_pull_request_that_is_not_listed_is_looked_for_again(world):
    opened = await world.proposed("r1")
    del world.repositories.opened[world.repo, opened.head_branch]
    assert await world.ring() == []
    assert world.timers.set[-1].kind is TimerKind.PULL_LOOK


async def test_p4_a_pull_request_that_is_gone_for_good_is_left_to_a_person(world):
    opened = await world.proposed("r1")
    del world.repositories.opened[world.repo, opened.head_branch]
    began = None
    for _ in range(9):
        if world.runs.runs["r1"].state is RunState.PR_OPEN:
            await world.ring()
            began = began or world.clock.now()
    sentence = ended(world, RunState.ESCALATED, EndReason.CLOSED_BY_PERSON)
    assert opened.url in sentence
    assert world.clock.now() - began >= timedelta(hours=1), "a list may lag behind"


async def test_a_stopped_run_says_which_pull_request_it_leaves_open(world):
    opened = await world.proposed("r1")
    stopped = build.run_cancel_requested(run_id="r1")
    answer = await world.action().on_run_cancel_requested(stopped)
    assert f"{opened.url} stays open" in answer.sentence


async def test_alerts_that_clear_while_an_undo_waits_keep_the_fix(world):
    told = await ineffective(world)
    (drafted,) = await world.note("r1", await world.validation().on_fix_ineffective(told))
    await world.note("r1", [await world.action().on_plan_drafted(drafted)])
    await clears(world)
    assert "its undo was not needed" in ended(world, RunState.RESOLVED, EndReason.ALERT_CLEARED)


async def test_what_the_receiver_counts_is_believed_before_the_facts_of_one_moment(world):
    await merged(world)
    at = world.clock.now()
    fields = {"first_seen": at, "last_seen": at, "occurrences": 3, "episodes": 1}
    counted = Tally(**fields, severity=Severity.CRITICAL, firing=1, resolved=2)
    world.tallies.tallies["r1"] = counted
    await clears(world)
    assert await world.ring() == []
    world.tallies.tallies["r1"] = replace(counted, firing=0, resolved=3)
    verified, _ = await world.ring()
    assert isinstance(verified, FixVerified)
