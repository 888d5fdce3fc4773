"""Approving with a change: a new plan with exactly those values, or the one that waits stays."""

import pytest

from tocsin_action.asking import Asking
from tocsin_contracts import (
    ApprovalRequested,
    FixIneffective,
    PlanDrafted,
    PlanSuperseded,
    PullRequestOpened,
    Remark,
    RunState,
)
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested, NewValue
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_gitops import hashing
from tocsin_kit.errors import TransientError
from tocsin_testing import build
from tocsin_testing.values import MEMORY


@pytest.fixture
async def waiting(world):
    """A world in which the plan of r1 waits for people; returns the question."""
    world.asking = Asking(("ana", "bo"), world.asking.patience)
    (drafted,) = await world.fire("r1")
    (asked,) = await world.note("r1", [await world.action().on_plan_drafted(drafted)])
    assert isinstance(asked, ApprovalRequested)
    return asked


def wish(asked, new="384Mi", **fields):
    fields = {
        "plan_hash": asked.plan.plan_hash,
        "changes": (NewValue(path=MEMORY, new=new),),
        "id": f"amend-{new}",
    } | fields
    return build.event(AmendmentRequested, run_id="r1", **fields)


async def amend(world, event):
    """Let an approver give other values; return what validation says."""
    await world.note("r1", [event])
    world.runs.runs["r1"] = build.run(
        *world.facts["r1"].values(), id="r1", state=RunState.VALIDATING
    )
    return await world.note("r1", await world.validation().on_amendment_requested(event))


def memory(plan):
    (edit,) = plan.edits
    return edit.new


async def test_a_new_plan_takes_the_place_of_the_old_one_and_is_asked_for_anew(world, waiting):
    superseded, drafted = await amend(world, wish(waiting, reason="it grows"))
    assert isinstance(superseded, PlanSuperseded)
    old, new = waiting.plan, drafted.plan
    assert (superseded.plan_hash, superseded.by) == (old.plan_hash, new.plan_hash)
    assert "ana gave other values: [name=api] memory: 256Mi -> 384Mi" in superseded.why
    assert (memory(new), new.files[0].path) == ("384Mi", old.files[0].path)
    assert "384Mi" in new.diff
    asked = await world.action().on_plan_drafted(drafted)
    assert asked.plan.plan_hash == new.plan_hash
    assert "not only ana, who asked for it" in asked.needs
    assert asked.hypothesis.amendments[0].reason == "it grows"
    before = await world.approvals.get("r1", old.plan_hash)
    assert before.state is ApprovalState.WITHDRAWN


async def test_p3_who_changed_it_is_not_the_only_one_to_approve_it(world, waiting):
    _, drafted = await amend(world, wish(waiting))
    await world.action().on_plan_drafted(drafted)
    said = {"run_id": "r1", "plan_hash": drafted.plan.plan_hash, "surface": "gateway"}
    said |= {"answer": DecisionKind.GRANTED, "reason": ""}
    first = await world.approvals.decide(by="ana", **said)
    assert (first.state, first.required) == (ApprovalState.PENDING, 2)
    second = await world.approvals.decide(by="bo", **said)
    assert second.state is ApprovalState.GRANTED


async def test_what_was_changed_is_what_is_written(world, waiting):
    world.asking = Asking(("ana", "bo"), world.asking.patience, self_approval=True)
    _, drafted = await amend(world, wish(waiting))
    opened = await world.write(drafted)
    assert isinstance(opened, PullRequestOpened)
    files = await world.repositories.files(world.gitops.repositories[0], opened.commit)
    assert b'"384Mi"  # be careful' in files[world.file].data


REFUSED = {
    "more than the policy allows": ({"new": "64Gi"}, "policy"),
    "no field of the plan": ({"changes": (NewValue(path=("spec", "x"), new=1),)}, "no plain value"),
    "the value it has": ({"new": "256Mi"}, "already"),
    "another kind": ({"new": 5}, "another kind"),
    "a stranger": ({"by": "mallory"}, "may not decide"),
    "a plan that waits no more": ({"plan_hash": "f" * 64}, "does not wait any more"),
}


@pytest.mark.parametrize(("fields", "why"), REFUSED.values(), ids=REFUSED)
async def test_p2_what_comes_to_no_plan_leaves_the_old_one_waiting(world, waiting, fields, why):
    (told,) = await amend(world, wish(waiting, **fields))
    assert isinstance(told, AmendmentRefused)
    assert why in told.why
    assert world.runs.runs["r1"].state is RunState.AWAITING_APPROVAL
    approval = await world.approvals.get("r1", waiting.plan.plan_hash)
    assert approval.state is ApprovalState.PENDING
    assert world.facts["r1"][PlanDrafted.topic].plan == waiting.plan


@pytest.mark.parametrize("answer", DecisionKind)
async def test_p1_a_decision_just_before_comes_first(world, waiting, answer):
    said = {"run_id": "r1", "plan_hash": waiting.plan.plan_hash, "surface": "gateway"}
    await world.approvals.decide(by="bo", answer=answer, reason="", **said)
    (told,) = await amend(world, wish(waiting))
    assert isinstance(told, AmendmentRefused)
    assert f"is {answer.value} already" in told.why


async def test_a_plan_whose_time_is_over_is_not_changed(world, waiting):
    world.clock.advance(4 * 3600)
    (told,) = await amend(world, wish(waiting))
    assert "expired" in told.why


async def test_p4_while_a_plan_is_on_its_way_to_people_the_next_change_waits(world, waiting):
    await amend(world, wish(waiting))
    with pytest.raises(TransientError, match="not put to people yet"):
        await amend(world, wish(waiting, "512Mi"))


async def test_p4_what_follows_from_a_yes_comes_first(world, waiting):
    granted = build.approval_granted(
        run_id="r1", decision=build.decision(plan_hash=waiting.plan.plan_hash)
    )
    await world.note("r1", [granted])
    with pytest.raises(TransientError, match="was approved"):
        await amend(world, wish(waiting))


async def test_of_two_changes_at_once_the_second_is_about_a_plan_that_is_gone(world, waiting):
    _, drafted = await amend(world, wish(waiting))
    world.clock.advance(1)
    await world.note("r1", [await world.action().on_plan_drafted(drafted)])
    (told,) = await amend(world, wish(waiting, "512Mi", by="bo"))
    assert drafted.plan.short_hash in told.why


async def test_a_plan_may_be_changed_again_and_both_have_asked_for_it(world, waiting):
    _, drafted = await amend(world, wish(waiting))
    world.clock.advance(1)
    (asked,) = await world.note("r1", [await world.action().on_plan_drafted(drafted)])
    _, again = await amend(world, wish(asked, "512Mi", by="bo"))
    last = await world.action().on_plan_drafted(again)
    assert "not only ana, bo, who asked for it" in last.needs
    assert [one.by for one in last.hypothesis.amendments] == ["ana", "bo"]


async def test_the_same_request_twice_gives_the_same_plan(world, waiting):
    (_, first), (_, again) = [
        await world.validation().on_amendment_requested(wish(waiting)) for _ in range(2)
    ]
    assert first.plan == again.plan


async def test_p2_a_change_of_a_file_that_moved_on_makes_no_other_plan(world, waiting):
    moved = world.manifest.replace("128Mi", "1Gi")
    world.repositories.commit(world.repo, {world.file: moved})
    (told,) = await amend(world, wish(waiting))
    assert isinstance(told, AmendmentRefused)


async def test_an_undo_is_exact_or_none(world):
    world.asking = Asking(("ana", "bo"), world.asking.patience)
    (drafted,) = await world.fire("r1")
    undo = drafted.plan.model_copy(update={"issue_key": hashing.undo_key("k")})
    drafted = drafted.model_copy(
        update={"plan": build.plan(**{**dict(undo), "plan_hash": "e" * 64})}
    )
    await world.note("r1", [drafted])
    (asked,) = await world.note("r1", [await world.action().on_plan_drafted(drafted)])
    (told,) = await amend(world, wish(asked))
    assert "an undo is exact" in told.why
    assert FixIneffective.topic not in world.facts["r1"]


async def test_the_plan_of_a_comment_may_be_changed_too(world):
    world.asking = Asking(("ana", "bo", "cy"), world.asking.patience, accounts={"github:11": "bo"})
    await world.proposed("r1")
    drafted = world.facts["r1"][PlanDrafted.topic]
    finding = drafted.hypothesis.finding
    change = finding.change.model_copy(update={"new": "384Mi"})
    asked_for = drafted.hypothesis.model_copy(
        update={
            "finding": finding.model_copy(update={"change": change}),
            "remark": Remark(author="github:11", delivery="d1"),
        }
    )
    event = build.change_proposed(run_id="r1", hypothesis=asked_for, plan=drafted.plan, id="c1")
    world.clock.advance(1)
    await world.note("r1", [event])
    (commented,) = await world.note("r1", await world.validation().on_change_proposed(event))
    world.clock.advance(1)
    (asked,) = await world.note("r1", [await world.action().on_plan_drafted(commented)])
    superseded, amended = await amend(world, wish(asked, "320Mi"))
    assert superseded.plan_hash == asked.plan.plan_hash
    assert (memory(amended.plan), amended.plan.intent) == ("320Mi", asked.plan.intent)
    last = await world.action().on_plan_drafted(amended)
    assert "not only bo, ana, who asked" in last.needs
