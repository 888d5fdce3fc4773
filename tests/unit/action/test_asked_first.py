"""Whom a question goes to first: who is on call, then the groups; and owners where they have to."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tocsin_action.overriding import stated
from tocsin_contracts.owners import CodeOwners, FileOwners
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_gitops import messages
from tocsin_kit.topology import TimerKind
from tocsin_testing import build
from tocsin_testing.build import NOW

GROUPS = {"payments": (("ana",), ("bo", "cy"))}
OWNED = (
    FileOwners(path="a.yaml", owners=("@Shop/Apps", "@nobody")),
    FileOwners(path="b.yaml", owners=("@nobody",), section="sec"),
)
PEOPLE = {"@shop/apps": ("dee", "ana")}


def duty(who):
    return lambda team, now: who


@pytest.fixture
def asking(desk):
    return replace(
        desk.asking,
        approvers=("ana", "bo", "cy", "dee"),
        groups=GROUPS,
        escalation=timedelta(minutes=20),
        owners=PEOPLE,
    )


PLAN = build.plan(owners=OWNED)


@pytest.mark.parametrize(
    ("who", "first", "then"), [("", ("ana",), 1), ("dee", ("dee",), 0), ("ana", ("ana",), 1)]
)
def test_who_is_on_call_is_asked_before_the_groups(asking, who, first, then):
    asking = replace(asking, on_call=duty(who))
    asked = asking.first("payments", PLAN, NOW)
    assert asked == first
    assert asking.next_group("payments", asked) == then


def test_without_groups_everybody_is_asked_after_who_is_on_call(asking):
    asking = replace(asking, groups={}, on_call=duty("dee"))
    assert asking.first("payments", PLAN, NOW) == ("dee",)
    assert asking.next_group("payments", ("dee",)) == 0
    assert asking.group("payments", 0) == asking.approvers


async def test_the_groups_get_their_turn_when_who_is_on_call_says_nothing(desk, asking):
    desk.asking = replace(asking, on_call=duty("dee"), groups={})
    asked = await desk.ask()
    approval = await desk.approvals.get(asked.run_id, asked.plan.plan_hash)
    assert approval.approvers == ("dee",)
    desk.clock.advance(20 * 60)
    (timer,) = [one for one in desk.timers.set if one.kind is TimerKind.APPROVAL_ESCALATION]
    assert timer.due_at == desk.clock.now()
    (told,) = await desk.waiting().on_escalation(timer)
    assert told.approvers == desk.asking.approvers


def test_owners_are_named_with_whom_they_stand_for(asking):
    shown = replace(asking, codeowners=CodeOwners.SHOW)
    assert shown.owners_of(PLAN) == (
        "a.yaml: @Shop/Apps (dee, ana) or @nobody (nobody in TOCSIN_OWNERS); "
        "b.yaml [sec]: @nobody (nobody in TOCSIN_OWNERS)"
    )
    assert shown.owned(PLAN) == {}
    assert shown.first("payments", PLAN, NOW) == ("ana",)


def test_owners_whose_yes_is_needed_may_decide_from_the_start(asking):
    required = replace(asking, codeowners=CodeOwners.REQUIRE)
    assert required.owned(PLAN) == {"a.yaml": ("dee", "ana"), "b.yaml [sec]": ()}
    assert required.first("payments", PLAN, NOW) == ("ana", "dee")


def test_nothing_is_said_of_owners_where_they_are_off(asking):
    off = replace(asking, codeowners=CodeOwners.OFF)
    assert (off.owners_of(PLAN), off.owned(PLAN)) == ("", {})


def test_a_broken_glass_stands_in_the_pull_request_and_in_its_commit():
    plan = build.plan()
    broken = build.decision(break_glass=True, reason="the shop is down @all\n# no")
    approval = build.approval(state=ApprovalState.GRANTED, decisions=(broken,))
    told = stated(plan, approval)
    assert "**Break-glass:** ana approved this alone" in told.body
    assert "Why: the shop is down \uff20all # no" in told.body
    assert messages.trailers(told.body) == f"Tocsin-Override: ana\nTocsin-Plan: {plan.plan_hash}\n"
    assert "Tocsin-Override: ana" in messages.commit(told.title, told.body)
    assert (told.plan_hash, told.files) == (plan.plan_hash, plan.files)


def test_any_other_yes_changes_no_word():
    plan = build.plan()
    assert stated(plan, build.approval(decisions=(build.decision(),))) is plan
    assert stated(plan, None) is plan


async def test_a_broken_glass_reaches_the_forge_and_owners_the_question(desk, asking):
    desk.asking = replace(
        asking, groups={}, codeowners=CodeOwners.REQUIRE, breakers=("ana",), self_approval=True
    )
    plan = desk.plan(owners=(FileOwners(path=desk.file, owners=("@nobody",)),))
    asked = await desk.ask(plan)
    assert "nobody in TOCSIN_OWNERS" in asked.owners
    assert "nobody who can be reached as owner of" in asked.needs
    said = {"run_id": asked.run_id, "plan_hash": plan.plan_hash, "surface": "gateway"}
    said |= {"answer": DecisionKind.GRANTED, "by": "ana", "reason": "the shop is down"}
    assert (await desk.approvals.decide(**said)).state is ApprovalState.PENDING
    taken = await desk.approvals.decide(break_glass=True, **said)
    assert taken.state is ApprovalState.GRANTED
    decision = build.decision(plan_hash=plan.plan_hash, break_glass=True)
    await desk.handlers().on_approval_granted(build.approval_granted(decision=decision))
    (written,) = desk.forge.asked
    assert "**Break-glass:** ana approved this alone" in written.body
    assert "Tocsin-Override: ana" in messages.commit(written.title, written.body)
