"""What people hear while nobody has decided."""

from datetime import timedelta

import pytest

from tocsin_contracts import ApprovalReminded, RunState
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


async def test_a_reminder_of_an_approval_that_is_gone_is_not_sent(desk):
    await desk.ask()
    desk.approvals.approvals.clear()
    assert await half_time(desk) == []
