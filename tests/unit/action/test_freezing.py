"""A change freeze is looked up again when people are asked, and right before the write."""

from dataclasses import replace

import pytest

from tocsin_contracts import IncidentOpened, PlanStale, PullRequestOpened, RunState
from tocsin_kit.approval_record import RULE
from tocsin_testing import build

FREEZE = "change freeze 'year end' holds until 2026-01-03T00:00:00+00:00"


async def applied(desk, granted):
    return await desk.handlers().on_approval_granted(granted)


async def test_without_a_freeze_what_was_approved_is_written(desk):
    assert isinstance(await applied(desk, await desk.approved()), PullRequestOpened)


async def test_a_freeze_that_began_since_the_yes_asks_again_and_writes_nothing(desk):
    granted = await desk.approved()
    desk.freezes.holds = FREEZE
    told = await applied(desk, granted)
    assert isinstance(told, PlanStale)
    assert FREEZE in told.why
    assert desk.pulls == []


async def test_who_said_yes_knowing_of_the_freeze_decided_about_it(desk):
    desk.freezes.holds = FREEZE
    asked = await desk.ask()
    assert asked.freeze == FREEZE
    assert isinstance(await applied(desk, await desk.say(asked)), PullRequestOpened)


async def test_another_freeze_than_the_one_that_was_told_asks_again(desk):
    desk.freezes.holds = FREEZE
    granted = await desk.say(await desk.ask())
    desk.freezes.holds = "change freeze 'audit' holds until 2026-02-01T00:00:00+00:00"
    assert isinstance(await applied(desk, granted), PlanStale)


async def test_a_freeze_that_is_over_is_not_told(desk):
    desk.freezes.holds = ""
    opened = build.event(IncidentOpened, freeze=FREEZE)
    desk.stands(RunState.VALIDATING, opened)
    run = await desk.runs.get(build.RUN)
    assert await desk.freezing.told(run, build.alert()) == ""
    desk.freezes.holds = None
    assert await desk.freezing.told(run, build.alert()) == FREEZE


@pytest.mark.parametrize(("by", "stops"), [("ana", False), (f"{RULE}:memory-up", True)])
async def test_where_nobody_says_a_person_is_believed_and_a_rule_is_not(desk, by, stops):
    granted = await desk.approved()
    key = (build.RUN, granted.decision.plan_hash)
    record = desk.approvals.approvals[key]
    decisions = (build.decision(plan_hash=key[1], by=by),)
    desk.approvals.approvals[key] = replace(record, decisions=decisions)
    desk.freezes.holds = None
    assert isinstance(await applied(desk, granted), PlanStale) is stops


async def test_who_breaks_the_glass_is_not_asked_again(desk):
    granted = await desk.approved()
    key = (build.RUN, granted.decision.plan_hash)
    record = desk.approvals.approvals[key]
    decisions = (build.decision(plan_hash=key[1], break_glass=True),)
    desk.approvals.approvals[key] = replace(record, decisions=decisions)
    desk.freezes.holds = FREEZE
    assert isinstance(await applied(desk, granted), PullRequestOpened)
