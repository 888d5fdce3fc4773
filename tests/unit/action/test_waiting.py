"""What people hear while nobody has decided."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tocsin_contracts import ApprovalEscalated, ApprovalReminded, RunState
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit.topology import TimerKind
from tocsin_testing import build

HALF = timedelta(hours=2)


async def half_time(desk, after=HALF):
    (timer,) = [one for one in desk.timers.set if one.kind is TimerKind.APPROVAL_REMINDER]
    desk.clock.advance(after.total_seconds())
    return await desk.waiting().on_half_time(timer)


async def test_at_half_time_people_are_reminded_of_what_ends_when(desk):
    asked = await desk.ask()
    (reminded,) = await half_time(desk)
    assert isinstance(reminded, ApprovalReminded)
    assert (reminded.approval_id, reminded.plan_hash) == (asked.approval_id, asked.plan.plan_hash)
    assert (reminded.title, reminded.expires_at) == (asked.plan.title, asked.expires_at)


@pytest.mark.parametrize("answer", DecisionKind)
async def test_nobody_is_reminded_of_what_was_decided(desk, answer):
    await desk.say(await desk.ask(), answer)
    assert await half_time(desk) == []


async def test_nobody_is_reminded_of_what_was_taken_back(desk):
    plan = (await desk.ask()).plan
    desk.record(plan, ApprovalState.WITHDRAWN)
    assert await half_time(desk) == []


async def test_a_reminder_that_comes_after_the_end_is_not_sent(desk):
    await desk.ask()
    assert await half_time(desk, after=2 * HALF) == []


async def test_p5_nobody_is_reminded_of_a_plan_that_another_one_took_the_place_of(desk):
    await desk.ask()
    newer = build.plan_drafted(plan=desk.plan("512Mi"))
    desk.stands(RunState.AWAITING_APPROVAL, newer)
    assert await half_time(desk) == []


GROUPS = {"payments": (("ana",), ("bo", "cy"), ("dee",)), "": (("ops",),)}


@pytest.fixture
def groups(desk):
    """A desk whose teams have groups of approvers."""
    desk.asking = replace(desk.asking, groups=GROUPS, escalation=timedelta(minutes=20))
    return desk


async def ask(desk, team="payments"):
    plan = desk.plan()
    opened = build.incident_opened(team=team)
    drafted = build.plan_drafted(plan=plan)
    desk.stands(RunState.VALIDATING, opened, drafted)
    asked = await desk.handlers().on_plan_drafted(drafted)
    desk.stands(RunState.AWAITING_APPROVAL, opened, drafted, asked)
    return await may(desk, plan), waits(desk)


def waits(desk):
    """Return the timers of escalations, in the order in which they were set."""
    return [one for one in desk.timers.set if one.kind is TimerKind.APPROVAL_ESCALATION]


async def may(desk, plan):
    return (await desk.approvals.get(build.RUN, plan.plan_hash)).approvers


@pytest.mark.parametrize(
    ("team", "first", "further"),
    [("payments", ("ana",), 1), ("search", ("ops",), 0), ("", ("ops",), 0)],
)
async def test_the_team_of_an_incident_says_who_is_asked_first(groups, team, first, further):
    approvers, timers = await ask(groups, team)
    assert (approvers, len(timers)) == (first, further)


async def test_each_group_may_decide_after_a_while_and_those_before_still_may(groups):
    """One timer of a kind waits for a run, so each is set when the one before it is due."""
    _, (first,) = await ask(groups)
    began = groups.clock.now()
    assert first.due_at - began == timedelta(minutes=20)
    (escalated,) = await groups.waiting().on_escalation(first)
    assert isinstance(escalated, ApprovalEscalated)
    assert escalated.approvers == ("bo", "cy")
    assert await may(groups, groups.plan()) == ("ana", "bo", "cy")
    _, second = waits(groups)
    assert second.due_at - began == timedelta(minutes=40)
    (escalated,) = await groups.waiting().on_escalation(second)
    assert escalated.approvers == ("dee",)
    assert await may(groups, groups.plan()) == ("ana", "bo", "cy", "dee")
    assert len(waits(groups)) == 2


async def test_p5_an_escalation_that_comes_twice_tells_the_same(groups):
    _, (timer,) = await ask(groups)
    first = await groups.waiting().on_escalation(timer)
    again = await groups.waiting().on_escalation(timer)
    assert [one.approvers for one in first] == [one.approvers for one in again]
    assert await may(groups, groups.plan()) == ("ana", "bo", "cy")
    assert len(waits(groups)) == 2


@pytest.mark.parametrize("state", [s for s in ApprovalState if s is not ApprovalState.PENDING])
async def test_nobody_else_is_asked_about_what_no_longer_waits(groups, state):
    _, (timer,) = await ask(groups)
    groups.record(groups.plan(), state)
    assert await groups.waiting().on_escalation(timer) == []
    assert waits(groups) == [timer]


async def test_an_escalation_to_a_group_that_is_named_no_more_asks_nobody(groups):
    _, (timer,) = await ask(groups)
    groups.asking = replace(groups.asking, groups={"payments": (("ana",),)})
    assert await groups.waiting().on_escalation(timer) == []


async def test_no_group_is_asked_after_the_end(groups):
    groups.asking = replace(groups.asking, escalation=timedelta(hours=3))
    _, (timer,) = await ask(groups)
    await groups.waiting().on_escalation(timer)
    assert waits(groups) == [timer]


async def test_a_reminder_of_an_approval_that_is_gone_is_not_sent(desk):
    await desk.ask()
    desk.approvals.approvals.clear()
    assert await half_time(desk) == []
