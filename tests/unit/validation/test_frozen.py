"""A freeze that begins while people think leads to a new plan that names it, and to a new yes."""

from tocsin_contracts import CheckVerdict, PlanStale, PullRequestOpened
from tocsin_validation.surroundings.surveyor import Means

FREEZE = "change freeze 'year end' holds until 2026-01-03T00:00:00+00:00"


def verdicts(drafted):
    return {one.check: one for one in drafted.plan.checks}


async def test_the_new_plan_names_the_freeze_and_its_yes_is_another_one(world):
    world.means = Means(runs=world.runs, freezes=world.freezes, clock=world.clock, kubectl="")
    drafted = (await world.fire("r1"))[-1]
    assert verdicts(drafted)["no-freeze"].verdict is CheckVerdict.PASS

    granted = await world.decide(drafted)
    world.freezes.holds = FREEZE
    stale = await world.action().on_approval_granted(granted)
    assert isinstance(stale, PlanStale)
    assert not world.repositories.opened

    await world.note("r1", [stale])
    again = (await world.note("r1", await world.validation().on_plan_stale(stale)))[-1]
    check = verdicts(again)["no-freeze"]
    assert check.verdict is CheckVerdict.FAIL
    assert FREEZE in check.detail
    assert again.plan.plan_hash != drafted.plan.plan_hash
    assert isinstance(await world.write(again), PullRequestOpened)
