"""From the merge to the cluster: what the GitOps controller says decides when the clock starts."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tocsin_action.arrival import UNTOLD, Arrival, Standing
from tocsin_contracts import (
    AlertStatus,
    EndReason,
    FixDeployed,
    FixIneffective,
    FixVerified,
    PullRequestMerged,
    RunFinished,
    RunState,
)
from tocsin_testing import build

MINUTE = 60
SYNCING = Arrival(Standing.SYNCING, "Argo CD", "sync is OutOfSync, health is Healthy")
FAILED = Arrival(Standing.FAILED, "Flux", "BuildFailed: no such file base/kustomization.yaml")
SYNCED = Arrival(Standing.SYNCED, "Argo CD", "", "1a2b3c4" + "0" * 33)


class Controller:
    def __init__(self, arrival):
        self.is_now, self.asked = arrival, []

    async def arrival(self, alert, target, commit):
        self.asked.append((alert, target, commit))
        return self.is_now


def fact(world, kind):
    return world.runs.runs["r1"].fact(kind)


@pytest.fixture
def merge(world):
    async def merge(arrival):
        world.deploying = Controller(arrival)
        opened = await world.proposed("r1")
        world.clock.advance((world.timers.set[-1].due_at - world.clock.now()).total_seconds())
        world.repositories.merge(world.repo, opened.head_branch, ended_at=world.clock.now())
        (told,) = await world.ring()
        assert isinstance(told, PullRequestMerged)
        return told

    return merge


async def ring_until(world, minutes):
    """Let every look of so many minutes after the merge come; return what was said in them."""
    end, said = fact(world, PullRequestMerged).merged_at + timedelta(minutes=minutes), []
    while world.timers.set[-1].due_at <= end and not fact(world, RunFinished):
        said += await world.ring()
        if said and isinstance(said[-1], FixIneffective):
            break
    return said


async def clears(world):
    resolved = build.alert(status=AlertStatus.RESOLVED)
    cleared = build.alert_resolved(run_id="r1", alert=resolved, at=world.clock.now())
    told = await world.action().on_alert_resolved(cleared)
    await world.note("r1", [cleared, *([told] if told else [])])


async def test_the_controller_is_asked_for_the_merged_commit_every_minute(world, merge):
    merged = await merge(SYNCING)
    await ring_until(world, 5)
    assert len(world.deploying.asked) == 5
    assert {commit for *_, commit in world.deploying.asked} == {merged.merged_commit}


async def test_the_proof_begins_when_the_fix_is_in_the_cluster(world, merge):
    await merge(SYNCING)
    await ring_until(world, 20)
    world.deploying.is_now = SYNCED
    (deployed,) = await world.ring()
    assert isinstance(deployed, FixDeployed)
    assert (deployed.by, deployed.revision) == ("Argo CD", SYNCED.revision)
    assert world.timers.set[-1].due_at == deployed.at + timedelta(minutes=15)
    (told,) = await world.ring()
    assert isinstance(told, FixIneffective)
    assert world.clock.now() == deployed.at + timedelta(minutes=15)


async def test_a_fix_that_arrived_is_verified_by_alerts_that_clear_after_it(world, merge):
    merged = await merge(SYNCING)
    world.deploying.is_now = replace(SYNCED, synced_at=merged.merged_at + timedelta(seconds=30))
    assert [type(one) for one in await world.ring()] == [FixDeployed]
    world.clock.advance(MINUTE)
    await clears(world)
    asked = len(world.deploying.asked)
    verified, _ = await ring_until(world, 30)
    assert isinstance(verified, FixVerified)
    assert len(world.deploying.asked) == asked, "what has arrived is not asked for again"


async def test_alerts_that_clear_before_the_fix_arrives_do_not_prove_it(world, merge):
    merged = await merge(SYNCING)
    world.clock.advance(MINUTE)
    await clears(world)
    world.deploying.is_now = replace(SYNCED, synced_at=merged.merged_at + timedelta(minutes=4))
    world.clock.advance(5 * MINUTE)
    await ring_until(world, 60)
    ended = fact(world, RunFinished)
    assert (ended.outcome, ended.reason) == (RunState.RESOLVED, EndReason.ALERT_CLEARED)
    assert "before" in ended.sentence
    assert "reached the cluster" in ended.sentence
    assert fact(world, FixVerified) is None


async def test_a_sync_that_fails_is_left_to_a_person_in_the_controllers_words(world, merge):
    await merge(FAILED)
    assert await ring_until(world, 9) == []
    (ended,) = await ring_until(world, 11)
    assert (ended.outcome, ended.reason) == (RunState.ESCALATED, EndReason.FIX_NOT_DEPLOYED)
    assert f"Flux could not bring it to the cluster: {FAILED.words}" in ended.sentence
    assert "Nothing is to be undone" in ended.sentence


async def test_a_sync_that_fails_at_first_and_then_succeeds_is_no_failure(world, merge):
    await merge(FAILED)
    await ring_until(world, 8)
    world.deploying.is_now = SYNCED
    assert [type(one) for one in await world.ring()] == [FixDeployed]


async def test_a_fix_that_nobody_syncs_is_never_undone(world, merge):
    await merge(SYNCING)
    (ended,) = await ring_until(world, 40)
    assert ended.reason is EndReason.FIX_NOT_DEPLOYED
    assert "Argo CD has not brought it to the cluster: sync is OutOfSync" in ended.sentence
    assert world.clock.now() - fact(world, PullRequestMerged).merged_at == timedelta(minutes=25)


@pytest.mark.parametrize(
    "arrival",
    [
        UNTOLD,
        Arrival(Standing.UNKNOWN, "Argo CD"),
        Arrival(Standing.UNHEALTHY, "Argo CD", "health is Degraded", SYNCED.revision),
    ],
    ids=["nobody to ask", "not seen", "arrived, and not well"],
)
async def test_where_no_arrival_is_told_a_merge_may_take_the_sync_minutes(world, merge, arrival):
    await merge(arrival)
    (told,) = await ring_until(world, 25)
    assert isinstance(told, FixIneffective)
    assert "still fire 25 minutes after the merge" in told.why


async def test_a_controller_that_is_seen_again_is_believed(world, merge):
    await merge(Arrival(Standing.UNKNOWN, "Flux"))
    await ring_until(world, 3)
    world.deploying.is_now = SYNCED
    assert [type(one) for one in await world.ring()] == [FixDeployed]
