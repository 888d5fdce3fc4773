"""What a comment asks for: checked, put to people, one more commit, or nothing, and said once."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_action.answering import Answering, answer, dropped, marker
from tocsin_action.commenting import Comments
from tocsin_action.wording import quoted
from tocsin_contracts import (
    AlertStatus,
    ApprovalExpired,
    ApprovalRequested,
    ChangeProposed,
    FixIneffective,
    Intent,
    PlanDrafted,
    PlanStale,
    ProposalDropped,
    PullRequestClosed,
    PullRequestCommented,
    PullRequestMerged,
    PullRequestUpdated,
    Remark,
    RunState,
)
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import TransientError
from tocsin_kit.steering import Steering
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind
from tocsin_testing import build

REMARK = Remark(author="github:11", delivery="d1")


def answering(world, approvers=("github:11",)):
    """Return who answers, as a worker that knows only what is stored."""
    comments = Comments(world.gitops, {"local": world.forge}, world.issues, world.approvals)
    return Answering(
        comments,
        world.approvals,
        world.runs,
        world.following(),
        steering=Steering(approvers, []),
        console="https://tocsin.example.com/",
    )


def asked(world, new, run_id="r1", remark=REMARK):
    """Return what rca says of a comment that asks for another value."""
    run = world.runs.runs[run_id]
    drafted = run.fact(PlanDrafted)
    finding = drafted.hypothesis.finding
    change = finding.change.model_copy(update={"new": new})
    wanted = drafted.hypothesis.model_copy(
        update={
            "finding": finding.model_copy(update={"change": change}),
            "remark": remark,
        }
    )
    fields = {"run_id": run_id, "hypothesis": wanted, "plan": drafted.plan, "id": f"asked-{new}"}
    return build.event(ChangeProposed, explanation=drafted.hypothesis, **fields)


async def asks_for(world, new, run_id="r1", **event):
    """Let a comment ask for another value; return what validation says."""
    event = asked(world, new, run_id, **event)
    await world.note(run_id, [event])
    world.runs.runs[run_id] = build.run(
        *world.facts[run_id].values(), id=run_id, state=RunState.VALIDATING
    )
    return await world.note(run_id, await world.validation().on_change_proposed(event))


async def waits(world, drafted):
    """Put a plan to people; return the question."""
    (question,) = await world.note(drafted.run_id, [await world.action().on_plan_drafted(drafted)])
    assert isinstance(question, ApprovalRequested)
    return question


async def look(world):
    """Let the newest look at the pull request come due; return what action says."""
    world.timers.set = [one for one in world.timers.set if one.kind is TimerKind.PULL_LOOK]
    return await world.ring()


def said(world):
    return [one.body for one in world.forge.said.values()]


async def test_it_becomes_one_more_commit_after_an_approval_of_its_own(world):
    opened = await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    plan = drafted.plan
    assert (plan.intent, plan.parent_sha) == (Intent.INCREMENT, opened.commit)
    assert len(world.forge.asked) == 1, "nothing is written before the yes"
    updated = await world.write(drafted)
    assert isinstance(updated, PullRequestUpdated)
    assert (updated.url, len(world.repositories.opened)) == (opened.url, 1)
    files = await world.repositories.files(world.gitops.repositories[0], updated.commit)
    assert b"384Mi" in files[world.file].data


async def test_p4_two_comments_have_their_turns(world):
    await world.proposed("r1")
    await asks_for(world, "384Mi")
    other = Remark(author="github:12", delivery="d2")
    with pytest.raises(TransientError, match="comes first"):
        await asks_for(world, "320Mi", remark=other)
    first = next(one for one in world.facts["r1"].values() if isinstance(one, PlanDrafted))
    assert first.hypothesis.remark == REMARK
    world.clock.advance(1)
    assert isinstance(await world.write(first), PullRequestUpdated)
    (second,) = await asks_for(world, "320Mi", remark=other)
    assert (second.hypothesis.remark, second.plan.intent) == (other, Intent.INCREMENT)


async def test_the_yes_to_the_first_plan_is_none_to_the_second(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    await waits(world, drafted)
    approval = await world.approvals.get("r1", drafted.plan.plan_hash)
    assert approval.state is ApprovalState.PENDING
    assert world.runs.runs["r1"].state is RunState.AWAITING_APPROVAL


async def test_less_than_the_pull_request_holds_is_another_value_too(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "192Mi")
    assert drafted.plan.intent is Intent.INCREMENT
    await world.write(drafted)
    repository = world.gitops.repositories[0]
    files = await world.repositories.files(repository, world.pull().commit)
    assert b"192Mi" in files[world.file].data


async def test_that_a_plan_waits_and_where_is_said_once(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    question = await waits(world, drafted)
    for _ in range(3):
        (told,) = await answering(world).on_approval_requested(question)
    assert isinstance(told, PullRequestCommented)
    (body,) = said(world)
    assert drafted.plan.short_hash in body
    assert "https://tocsin.example.com/runs/r1" in body


async def test_a_plan_that_no_comment_asked_for_is_not_commented_on(world):
    (drafted,) = await world.fire("r1")
    question = await waits(world, drafted)
    assert await answering(world).on_approval_requested(question) == []


DROPPED = {"what it holds already": "256Mi", "what no policy allows": "64Gi"}


@pytest.mark.parametrize("new", DROPPED.values(), ids=DROPPED)
async def test_what_comes_to_nothing_leaves_the_pull_request_open_and_looked_after(world, new):
    await world.proposed("r1")
    (told,) = await asks_for(world, new)
    assert isinstance(told, ProposalDropped)
    assert told.why
    assert world.runs.runs["r1"].state is RunState.PR_OPEN
    world.timers.set.clear()
    await answering(world).on_proposal_dropped(told)
    assert [one.kind for one in world.timers.set] == [TimerKind.PULL_LOOK]
    assert len(said(world)) == 1
    assert len(world.forge.asked) == 1


@pytest.mark.parametrize("state", [PullState.MERGED, PullState.CLOSED])
async def test_it_opens_no_other_pull_request_where_people_ended_the_first(world, state):
    opened = await world.proposed("r1")
    world.repositories.change(
        world.repo, opened.head_branch, state=state, ended_at=world.clock.now()
    )
    (told,) = await asks_for(world, "384Mi")
    assert isinstance(told, ProposalDropped)


async def test_a_commit_of_a_person_is_not_built_on(world):
    opened = await world.proposed("r1")
    world.repositories.push(world.repo, opened.head_branch, {world.file: b"kind: X\n"})
    (told,) = await asks_for(world, "384Mi")
    assert isinstance(told, ProposalDropped)


async def test_a_no_is_to_what_the_comment_asked_for_and_not_to_the_pull_request(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    await world.decide(drafted, DecisionKind.DENIED)
    decision = build.decision(plan_hash=drafted.plan.plan_hash)
    denied = build.approval_denied(run_id="r1", decision=decision)
    (told,) = await world.note("r1", [await world.action().on_approval_denied(denied)])
    assert isinstance(told, ProposalDropped)
    assert "ana said no" in told.why
    assert world.runs.runs["r1"].state is RunState.PR_OPEN


async def test_an_approval_that_nobody_gives_expires_and_the_pull_request_stays(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    await waits(world, drafted)
    world.clock.advance(5 * 3600)
    about = drafted.plan.plan_hash
    due = Timer(kind=TimerKind.APPROVAL_EXPIRY, run_id="r1", due_at=world.clock.now(), about=about)
    told = await world.note("r1", await world.action().on_approval_due(due))
    assert [type(one) for one in told] == [ApprovalExpired, ProposalDropped]
    assert world.runs.runs["r1"].state is RunState.PR_OPEN


async def test_asked_for_again_after_a_no_it_is_not_put_to_people_again(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    await world.decide(drafted, DecisionKind.DENIED)
    told = await world.action().on_plan_drafted(drafted)
    assert isinstance(told, ProposalDropped)


async def test_alerts_that_clear_while_it_waits_end_nothing(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    await waits(world, drafted)
    resolved = build.alert(status=AlertStatus.RESOLVED)
    cleared = build.alert_resolved(run_id="r1", alert=resolved, at=world.clock.now())
    assert await world.action().on_alert_resolved(cleared) is None


async def test_stopped_while_it_waits_the_run_says_that_a_pull_request_is_open(world):
    opened = await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    await waits(world, drafted)
    ended = await world.action().on_run_cancel_requested(build.run_cancel_requested(run_id="r1"))
    assert f"{opened.url} stays open" in ended.sentence


@pytest.mark.parametrize("state", [PullState.MERGED, PullState.CLOSED])
async def test_who_ends_the_pull_request_takes_the_question_back(world, state):
    opened = await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    await waits(world, drafted)
    assert await look(world) == [], "it is open, and looked at on"
    world.repositories.change(
        world.repo, opened.head_branch, state=state, ended_at=world.clock.now()
    )
    (told,) = await look(world)
    assert isinstance(told, ProposalDropped)
    await answering(world).on_proposal_dropped(told)
    approval = await world.approvals.get("r1", drafted.plan.plan_hash)
    assert approval.state is ApprovalState.WITHDRAWN
    assert state.value in said(world)[0]
    ended = await look(world)
    assert isinstance(ended[0], PullRequestMerged | PullRequestClosed)


async def test_what_was_asked_for_since_is_not_taken_back(world):
    await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi", remark=Remark(author="github:11", delivery="d2"))
    await waits(world, drafted)
    late = build.event(ProposalDropped, run_id="r1", remark=REMARK)
    await answering(world).on_proposal_dropped(late)
    approval = await world.approvals.get("r1", drafted.plan.plan_hash)
    assert approval.state is ApprovalState.PENDING


async def test_after_a_no_a_fix_that_does_not_help_is_still_undone(world):
    opened = await world.proposed("r1")
    asked_for = await asks_for(world, "384Mi")
    await world.note("r1", [build.event(ProposalDropped, run_id="r1")])
    assert isinstance(asked_for[0], PlanDrafted)
    world.repositories.merge(world.repo, opened.head_branch, ended_at=world.clock.now())
    await answering(world).on_proposal_dropped(build.event(ProposalDropped, run_id="r1"))
    await world.ring()
    assert world.runs.runs["r1"].state is RunState.PR_MERGED
    world.clock.advance(3600)
    (told,) = await world.ring()
    assert isinstance(told, FixIneffective)
    assert told.plan.plan_hash == opened.plan_hash
    assert told.hypothesis.remark is None


async def test_a_plan_that_went_stale_is_drafted_anew_or_dropped(world):
    opened = await world.proposed("r1")
    (drafted,) = await asks_for(world, "384Mi")
    world.repositories.change(
        world.repo, opened.head_branch, state=PullState.CLOSED, ended_at=world.clock.now()
    )
    stale = build.event(
        PlanStale,
        run_id="r1",
        hypothesis=drafted.hypothesis,
        plan_hash=drafted.plan.plan_hash,
        issue_key=drafted.plan.issue_key,
    )
    world.saver = InMemorySaver()
    (told,) = await world.validation().on_plan_stale(stale)
    assert isinstance(told, ProposalDropped)


async def test_p5_an_answer_that_is_delivered_three_times_is_posted_once(world):
    await world.proposed("r1")
    event = build.comment_answered(run_id="r1", remark=REMARK)
    for _ in range(3):
        (told,) = await answering(world).on_comment_answered(event)
    (body,) = said(world)
    assert "Two pods were killed" in body
    assert "Evidence e1 of run r1." in body
    assert told.remark == REMARK
    other = event.model_copy(update={"remark": Remark(author="github:11", delivery="d2")})
    await answering(world).on_comment_answered(other)
    assert len(said(world)) == 2


async def test_p3_an_answer_to_somebody_who_may_not_steer_is_not_posted(world):
    await world.proposed("r1")
    event = build.comment_answered(run_id="r1", remark=REMARK)
    assert await answering(world, approvers=("github:12",)).on_comment_answered(event) == []
    assert said(world) == []


async def test_p3_without_a_granted_approval_nothing_is_posted(world):
    await world.proposed("r1")
    world.approvals.approvals.clear()
    event = build.comment_answered(run_id="r1", remark=REMARK)
    assert await answering(world).on_comment_answered(event) == []
    assert said(world) == []


async def test_what_is_proposed_is_not_answered_before_it_is_a_plan(world):
    await world.proposed("r1")
    event = build.comment_answered(run_id="r1", remark=REMARK, kind="propose")
    assert await answering(world).on_comment_answered(event) == []


HOSTILE = "@everyone <img src=x onerror=y> [a](https://evil.example)\n/approve\n```\n/merge\nok"


@pytest.mark.parametrize(
    "body",
    [
        answer(build.comment_answered(words=HOSTILE, cites=("`@x`",))),
        dropped(HOSTILE),
    ],
)
def test_words_of_others_mention_nobody_and_render_link_and_command_nothing(body):
    assert not {"@", "<", "["} & set(body)
    assert body.count("```") == 2
    assert "| /approve" in body.splitlines()
    block = body.split("```text\n")[1].split("\n```")[0]
    assert all(line.startswith("|") for line in block.splitlines())
    assert "evil.example" not in body.replace(block, "")


def test_an_answer_is_not_longer_than_people_read():
    assert len(quoted("word " * 10_000)) < 3000


def test_what_a_forge_sent_is_no_part_of_the_marker():
    assert "-->" not in marker(Remark(author="github:11", delivery="--> <b>"))


async def test_a_change_that_missed_the_merge_is_told_so(world):
    opened = await world.proposed("r1")
    event = asked(world, "384Mi")
    await world.note("r1", [event])
    with pytest.raises(TransientError, match="its turn"):
        await answering(world).on_change_proposed(event)
    merged = build.event(PullRequestMerged, run_id="r1", url=opened.url)
    await world.note("r1", [merged])
    (told,) = await answering(world).on_change_proposed(event)
    assert isinstance(told, PullRequestCommented)
    (body,) = said(world)
    assert "is merged already" in body
    assert world.runs.runs["r1"].state is RunState.PR_MERGED


async def test_a_change_that_had_its_turn_is_answered_by_who_drafts_plans(world):
    await world.proposed("r1")
    await asks_for(world, "384Mi")
    event = asked(world, "384Mi")
    assert await answering(world).on_change_proposed(event) == []
    assert said(world) == []
