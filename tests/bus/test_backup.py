"""A deployment that was wiped is back from its backup, on real servers: nothing happens twice."""

import asyncio
from datetime import UTC, datetime, timedelta

import nats
import pytest

from tocsin_contracts import AlertAccepted, ApprovalGranted, IncidentOpened, RunState
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit import approvals as kit
from tocsin_kit import backup, keys, store
from tocsin_kit.approvals import Approvals
from tocsin_kit.errors import PermanentError
from tocsin_kit.heartbeat import Heart, Vitals
from tocsin_kit.moves import move
from tocsin_kit.outbox import Outbox
from tocsin_kit.quorum import ONE
from tocsin_kit.run_view import RunReader
from tocsin_kit.timers import Timer
from tocsin_kit.topology import FACTS, PARKED, TIMERS, TimerKind
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.harness import running, until

pytestmark = pytest.mark.servers

PLAN = build.plan().plan_hash
RECEIVED = move(RunState.RECEIVED)


@pytest.fixture
def places(nats_url, redis_url):
    return nats_url, redis_url


async def wipe(places):
    client = await nats.connect(places[0])
    try:
        for stream in await client.jetstream().streams_info():
            await client.jetstream().delete_stream(stream.config.name)
    finally:
        await client.close()
    async with store.connect(places[1]) as redis:
        await redis.flushall()


def saved(places, folder):
    return backup.back_up(*places, folder, prefix=keys.PREFIX)


def restored(places, folder, **how):
    return backup.restore(*places, folder, prefix=keys.PREFIX, **how)


def desk(rig):
    outbox = Outbox(rig.redis, kit.OWNER, kit.read, rig.bus.publish)
    return Approvals(rig.redis, outbox)


async def ask(rig):
    """Bring a run to where it waits for a yes, and return the nonce of the message."""
    drafted = build.plan_drafted()
    begin = await rig.runs.begin(drafted, "action", RECEIVED)
    asked = build.approval_requested()
    await rig.runs.commit(begin.lease, RECEIVED, drafted, [asked])
    await rig.bus.publish(asked)
    due = datetime.now(UTC) + timedelta(hours=4)
    await desk(rig).open(RUN, PLAN, ("ana",), due, ONE)
    return await desk(rig).mint(RUN, PLAN, "slack")


async def yes(rig, nonce):
    return await desk(rig).redeem(
        run_id=RUN,
        plan_hash=PLAN,
        surface="slack",
        nonce=nonce,
        answer=DecisionKind.GRANTED,
        by="ana",
        reason="",
    )


async def test_p3_an_open_approval_can_still_be_given_exactly_once(places, tmp_path):
    async with running(*places) as rig:
        nonce = await ask(rig)
        before = await rig.reader.get(RUN)
        await saved(places, tmp_path / "b")
    await wipe(places)
    await restored(places, tmp_path / "b")
    async with running(*places) as rig:
        assert await rig.reader.get(RUN) == before
        answers = await asyncio.gather(*(yes(rig, nonce) for _ in range(5)))
        assert [one.state for one in answers] == [ApprovalState.GRANTED] * 5
        assert len([one for one in answers if one.refusal is None]) == 1
        facts = [one for one in await rig.facts() if isinstance(one, ApprovalGranted)]
        assert len(facts) == 1


async def test_a_consumer_goes_on_where_it_was(places, tmp_path):
    heard = []

    def subscribe(bus):
        async def hear(event: IncidentOpened) -> None:
            heard.append(event.run_id)

        bus.watch(IncidentOpened, hear)

    runs = [f"run-{n}" for n in range(6)]
    async with running(*places, subscribe) as rig:
        for run in runs[:4]:
            await rig.bus.publish(build.incident_opened(run_id=run))
        await rig.settled("rca-opened")
    async with running(*places) as rig:
        for run in runs[4:]:
            await rig.bus.publish(build.incident_opened(run_id=run))
        kept = await rig.facts()
    await saved(places, tmp_path / "b")
    await wipe(places)
    await restored(places, tmp_path / "b")
    async with running(*places, subscribe) as rig:
        await rig.settled("rca-opened")
        assert await rig.facts() == kept
    assert heard == runs


async def test_a_timer_that_came_due_meanwhile_is_not_forgotten(places, tmp_path):
    async with running(*places) as rig:
        due = datetime.now(UTC) + timedelta(seconds=1)
        await rig.bus.set_timer(Timer(kind=TimerKind.PULL_LOOK, run_id=RUN, due_at=due))
        await saved(places, tmp_path / "b")
    await wipe(places)
    await restored(places, tmp_path / "b")
    async with running(*places) as rig:
        await until(lambda: rig.waiting("action-due-pull-look", TIMERS), bool)


async def test_what_was_stored_while_it_was_saved_is_in_it(places, tmp_path, monkeypatch):
    save = backup.backup_store.save
    async with running(*places) as rig:

        async def late(client, file):
            await rig.bus.publish(build.incident_opened())
            return await save(client, file)

        monkeypatch.setattr(backup.backup_store, "save", late)
        await rig.bus.publish(build.alert_accepted())
        found = await saved(places, tmp_path / "b")
        assert found.messages == 2
    await wipe(places)
    await restored(places, tmp_path / "b")
    async with running(*places) as rig:
        assert [type(one) for one in await rig.facts()] == [AlertAccepted, IncidentOpened]


async def test_a_key_keeps_the_moment_at_which_it_is_forgotten(places, tmp_path):
    async with running(*places) as rig:
        await rig.redis.set(keys.run("short"), "x", px=1)
        await rig.redis.set(keys.run("long"), "x", ex=1000)
        await rig.redis.set(keys.run("ever"), "x")
        await rig.redis.set("other:key", "x")
        ends = await rig.redis.pexpiretime(keys.run("long"))
        await saved(places, tmp_path / "b")
    await wipe(places)
    await restored(places, tmp_path / "b")
    async with store.connect(places[1]) as redis:
        assert sorted(await redis.keys("*")) == [keys.run("ever"), keys.run("long")]
        assert await redis.pexpiretime(keys.run("long")) == ends
        assert await redis.pexpiretime(keys.run("ever")) == -1


async def test_what_bus_and_store_hold_is_lost_only_where_somebody_says_so(places, tmp_path):
    async with running(*places) as rig:
        await ask(rig)
        await saved(places, tmp_path / "b")
        await rig.redis.set(keys.run("newer"), "x")
    with pytest.raises(PermanentError, match=f"something in {FACTS}, the store"):
        await restored(places, tmp_path / "b")
    await restored(places, tmp_path / "b", force=True)
    async with store.connect(places[1]) as redis:
        assert not await redis.exists(keys.run("newer"))
        assert (await RunReader(redis).get(RUN)).state is RunState.AWAITING_APPROVAL


async def test_nothing_is_put_back_under_processes_that_run(places, tmp_path):
    async with running(*places) as rig:
        await saved(places, tmp_path / "b")
        heart = Heart(rig.redis, "rca", vitals=Vitals(), connected=lambda: True)
        await heart.beat()
    with pytest.raises(PermanentError, match=f"these processes run: {heart.instance}"):
        await restored(places, tmp_path / "b", force=True)


@pytest.mark.parametrize("file", [f"{FACTS}.snapshot", f"{PARKED}.tail.jsonl", backup.STORE])
async def test_a_damaged_backup_touches_nothing(places, tmp_path, file):
    async with running(*places) as rig:
        await ask(rig)
        await saved(places, tmp_path / "b")
    with (tmp_path / "b" / file).open("ab") as out:
        out.write(b"x")
    with pytest.raises(PermanentError, match=f"is damaged: {file}"):
        await restored(places, tmp_path / "b", force=True)
    async with store.connect(places[1]) as redis:
        assert await RunReader(redis).get(RUN) is not None


async def test_a_folder_that_is_no_backup_or_is_there_already_is_refused(places, tmp_path):
    with pytest.raises(PermanentError, match="no whole backup"):
        await restored(places, tmp_path)
    with pytest.raises(PermanentError, match="exists"):
        await saved(places, tmp_path)


async def test_a_backup_that_broke_off_leaves_nothing(places, tmp_path):
    with pytest.raises(Exception, match="stream"):
        await saved(places, tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


async def test_p6_only_its_owner_may_read_a_backup(places, tmp_path):
    async with running(*places):
        await saved(places, tmp_path / "b")
    assert (tmp_path / "b").stat().st_mode & 0o077 == 0
