"""Runs begun anew on a real store: one at a time, of the same alerts, and both know of it."""

import asyncio

import pytest

from tocsin_contracts import AlertAccepted, RunState
from tocsin_contracts.operations import RunRerun
from tocsin_kit import intake
from tocsin_kit.intake import Intake
from tocsin_kit.outbox import Outbox
from tocsin_kit.reruns import NotRerunError, Reruns
from tocsin_kit.run_records import RunRecords
from tocsin_testing import build
from tocsin_testing.harness import running

pytestmark = pytest.mark.servers

FIRST = build.alert_accepted()


class Desk:
    """An incident whose run has ended, and those who begin another."""

    def __init__(self, rig):
        self.rig = rig
        self.intake = Intake(
            rig.redis, Outbox(rig.redis, intake.OWNER, intake.read, rig.bus.publish)
        )
        self.reruns = Reruns(self.intake, RunRecords(rig.redis), rig.bus.publish)

    async def ended(self, *facts):
        opened = await self.intake.admit(FIRST.incident_key, FIRST.alert)
        await self.rig.runs.create(build.alert_accepted(run_id=opened.run_id))
        await self.intake.close(FIRST.incident_key, opened.run_id)
        accepted = build.alert_accepted(run_id=opened.run_id)
        return build.run(accepted, *facts, state=RunState.ESCALATED)


async def test_a_new_run_has_the_alerts_of_the_old_one_and_both_name_the_other(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        desk = Desk(rig)
        other = build.alert_repeated(alert=build.alert(fingerprint="other", title="Other"))
        old = await desk.ended(other)
        told = await desk.reruns.begin(old, "ana", "the store is back")
        assert (told.of, told.run_id != old.id, told.by) == (old.id, True, "ana")
        facts = await rig.facts()
        assert [fact.topic for fact in facts][:2] == [RunRerun.topic, AlertAccepted.topic]
        accepted = facts[1]
        assert (accepted.run_id, accepted.alert) == (told.run_id, old.fact(AlertAccepted).alert)
        assert [fact.alert.title for fact in facts[2:]] == ["Other"]
        assert (await rig.reader.get(old.id)).fact(RunRerun) == told
        await rig.runs.create(accepted)
        assert (await rig.reader.get(told.run_id)).fact(RunRerun) == told


async def test_of_many_who_ask_at_once_one_gets_a_run(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        desk = Desk(rig)
        old = await desk.ended()
        done = await asyncio.gather(
            *(desk.reruns.begin(old, f"p{n}") for n in range(10)), return_exceptions=True
        )
        begun = [one for one in done if isinstance(one, RunRerun)]
        assert len(begun) == 1
        refused = [str(one) for one in done if isinstance(one, NotRerunError)]
        assert len(refused) == 9
        assert all(begun[0].run_id in why for why in refused)


async def test_a_run_that_goes_on_is_not_begun_anew(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        with pytest.raises(NotRerunError, match="has not ended"):
            await Desk(rig).reruns.begin(build.run(FIRST), "ana")


async def test_a_run_that_has_a_follower_is_not_begun_anew_and_says_who_it_is(nats_url, redis_url):
    async with running(nats_url, redis_url) as rig:
        desk = Desk(rig)
        old = await desk.ended()
        newer = await desk.reruns.begin(old, "ana")
        with pytest.raises(NotRerunError, match=newer.run_id):
            await desk.reruns.begin(old, "bo")
