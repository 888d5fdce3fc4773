"""The run store on a real store: who may work on a run, and what counts as done."""

import asyncio

import pytest

from tocsin_contracts import AlertAccepted, HypothesisFormed, IncidentOpened, RunFinished, RunState
from tocsin_kit import keys, store
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.moves import ANY, OPEN, move
from tocsin_kit.run_view import RunReader
from tocsin_kit.runs import BeginVerdict, Renewal, RunStore
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeClock
from tocsin_testing.harness import until

pytestmark = pytest.mark.servers

INVESTIGATE = move(RunState.RECEIVED, during=RunState.INVESTIGATING)
VALIDATE = move(RunState.VALIDATING)
OPENED = build.incident_opened()
FORMED = build.hypothesis_formed().caused_by(OPENED.id, "rca")


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def runs(redis, clock):
    return RunStore(redis, lease_seconds=5, max_attempts=2, clock=clock)


@pytest.fixture
def reader(redis):
    return RunReader(redis)


async def state(reader):
    return (await reader.get(RUN)).state


async def test_a_worker_that_begins_names_what_the_run_does(runs, reader):
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    assert begin.verdict is BeginVerdict.GO
    assert await state(reader) is RunState.INVESTIGATING


async def test_a_run_without_a_record_counts_as_just_received(runs, reader):
    assert await reader.get(RUN) is None
    assert (await runs.begin(OPENED, "rca", move(RunState.RECEIVED))).verdict is BeginVerdict.GO
    assert await state(reader) is RunState.RECEIVED


async def test_a_commit_stores_state_version_and_facts_in_one_step(runs, reader):
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    published = await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED])
    run = await reader.get(RUN)
    assert (run.state, run.version) == (RunState.VALIDATING, 1)
    assert run.fact(IncidentOpened) == OPENED
    assert run.fact(HypothesisFormed).id == FORMED.id
    assert published == (FORMED.model_copy(update={"run_version": 1}),)


async def test_p5_a_finished_event_gives_the_stored_events_again_with_the_same_ids(runs):
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    published = await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED])
    again = await runs.begin(OPENED, "rca", INVESTIGATE)
    assert (again.verdict, again.stored) == (BeginVerdict.DONE, published)


async def test_p5_a_finished_event_stays_finished_after_the_run_went_on(runs):
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    published = await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED])
    later = await runs.begin(FORMED, "validation", VALIDATE)
    await runs.commit(later.lease, VALIDATE, FORMED, [build.run_finished()])
    assert (await runs.begin(OPENED, "rca", INVESTIGATE)).stored == published


async def test_an_event_that_the_run_has_left_behind_is_stale(runs):
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED])
    other = build.incident_opened(id="another")
    assert (await runs.begin(other, "rca", INVESTIGATE)).verdict is BeginVerdict.STALE


async def test_an_event_that_the_run_has_not_come_to_yet_is_early(runs):
    await runs.create(build.alert_accepted())
    assert (await runs.begin(FORMED, "validation", VALIDATE)).verdict is BeginVerdict.EARLY


async def test_p4_a_run_that_has_ended_accepts_no_move(runs, reader):
    begin = await runs.begin(OPENED, "rca", OPEN)
    await runs.commit(begin.lease, OPEN, OPENED, [build.run_finished(outcome=RunState.CANCELLED)])
    late = build.incident_opened(id="late")
    assert (await runs.begin(late, "action", OPEN)).verdict is BeginVerdict.STALE
    assert await state(reader) is RunState.CANCELLED


async def test_a_service_that_only_watches_may_look_at_a_run_that_has_ended(runs, reader):
    begin = await runs.begin(OPENED, "rca", OPEN)
    await runs.commit(begin.lease, OPEN, OPENED, [build.run_finished()])
    watching = await runs.begin(build.run_finished(), "notifier", ANY)
    assert watching.verdict is BeginVerdict.GO
    assert await runs.commit(watching.lease, ANY, build.run_finished(), []) == ()
    assert await state(reader) is RunState.ESCALATED


async def test_one_worker_of_a_service_holds_a_run_and_the_next_hears_how_long(runs):
    await runs.begin(OPENED, "rca", INVESTIGATE)
    busy = await runs.begin(OPENED, "rca", INVESTIGATE)
    assert busy.verdict is BeginVerdict.BUSY
    assert 0 < busy.wait <= 5


async def test_two_services_may_work_on_a_run_at_once(runs):
    await runs.begin(OPENED, "rca", INVESTIGATE)
    assert (await runs.begin(OPENED, "notifier", ANY)).verdict is BeginVerdict.GO


async def test_p5_of_many_workers_that_begin_at_once_one_may_go_on(runs):
    begun = await asyncio.gather(*(runs.begin(OPENED, "rca", INVESTIGATE) for _ in range(40)))
    verdicts = [begin.verdict for begin in begun]
    assert verdicts.count(BeginVerdict.GO) == 1
    assert verdicts.count(BeginVerdict.BUSY) == 39


async def test_a_run_is_given_up_after_its_tries_with_the_last_cause(runs):
    for cause in ("the first", "the second"):
        begin = await runs.begin(OPENED, "rca", INVESTIGATE)
        assert begin.verdict is BeginVerdict.GO
        await runs.release(begin.lease, counted=True, cause=cause)
    given_up = await runs.begin(OPENED, "rca", INVESTIGATE)
    assert (given_up.verdict, given_up.cause) == (BeginVerdict.EXHAUSTED, "the second")


async def test_a_try_that_was_nobodys_fault_is_not_counted(runs):
    for _ in range(5):
        begin = await runs.begin(OPENED, "rca", INVESTIGATE)
        assert begin.verdict is BeginVerdict.GO
        await runs.release(begin.lease, counted=False)


async def test_tries_are_counted_for_each_event_and_service(runs):
    for event in (OPENED, build.incident_opened(id="another")):
        for service in ("rca", "validation"):
            for _ in range(2):
                begin = await runs.begin(event, service, INVESTIGATE)
                assert begin.verdict is BeginVerdict.GO
                await runs.release(begin.lease, counted=True)


async def test_p5_a_worker_that_lost_its_lease_commits_nothing(redis, reader):
    runs = RunStore(redis, lease_seconds=0.02)
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    lost = keys.lease(RUN, "rca")
    await until(lambda: redis.exists(lost), lambda there: not there)
    with pytest.raises(TransientError, match="was lost before the commit"):
        await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED])
    assert (await reader.get(RUN)).facts == {}


async def test_p5_a_worker_whose_lease_was_taken_over_commits_nothing(redis, reader):
    runs = RunStore(redis, lease_seconds=0.02)
    slow = await runs.begin(OPENED, "rca", INVESTIGATE)
    quick = await until(
        lambda: runs.begin(OPENED, "rca", INVESTIGATE), lambda b: b.verdict is BeginVerdict.GO
    )
    runs = RunStore(redis, lease_seconds=5)
    assert await runs.renew(slow.lease) is Renewal.LOST
    with pytest.raises(TransientError, match="was lost before the commit"):
        await runs.commit(slow.lease, INVESTIGATE, OPENED, [build.run_finished()])
    assert quick.lease.token != slow.lease.token


async def test_what_a_worker_concludes_is_dropped_when_the_run_was_moved_meanwhile(runs, reader):
    working = await runs.begin(OPENED, "rca", INVESTIGATE)
    cancelled = build.run_finished(outcome=RunState.CANCELLED)
    ending = await runs.begin(build.run_cancel_requested(), "action", OPEN)
    await runs.commit(ending.lease, OPEN, build.run_cancel_requested(), [cancelled])
    assert await runs.commit(working.lease, INVESTIGATE, OPENED, [FORMED]) == ()
    run = await reader.get(RUN)
    assert run.state is RunState.CANCELLED
    assert run.fact(HypothesisFormed) is None
    assert run.fact(RunFinished).outcome is RunState.CANCELLED


async def test_a_newer_event_wins_over_a_store_that_lost_its_last_moments(runs, reader):
    newer = FORMED.model_copy(update={"run_version": 3})
    begin = await runs.begin(newer, "validation", VALIDATE)
    assert begin.verdict is BeginVerdict.GO
    run = await reader.get(RUN)
    assert (run.state, run.version) == (RunState.VALIDATING, 3)


async def test_p4_no_event_however_new_revives_a_run_that_has_ended(runs, reader):
    begun = await runs.begin(build.incident_opened(), "rca", OPEN)
    ended = build.run_finished(id="end")
    await runs.commit(begun.lease, OPEN, build.incident_opened(), [ended])
    forged = build.plan_drafted(run_version=1000)
    again = await runs.begin(forged, "action", move(RunState.VALIDATING))
    assert again.verdict is BeginVerdict.STALE
    assert await state(reader) is ended.outcome


async def test_a_version_that_no_run_reaches_is_refused(runs):
    with pytest.raises(PermanentError, match="no run has the version"):
        await runs.begin(build.plan_drafted(run_version=10**31), "action", OPEN)


async def test_a_record_that_cannot_be_read_hides_no_other(runs, reader, redis):
    await runs.create(build.alert_accepted())
    await runs.create(build.alert_accepted(run_id="broken"))
    await redis.hset("tocsin:run:{broken}", "version", "1e+31")
    assert [run.id for run in await reader.recent(10)] == [RUN]


async def test_a_waiting_run_is_found_behind_many_newer_ones(runs, reader, clock, redis):
    await runs.create(build.alert_accepted())
    await redis.hset(f"tocsin:run:{{{RUN}}}", "state", RunState.AWAITING_APPROVAL)
    for number in range(450):
        clock.advance(1)
        await runs.create(build.alert_accepted(run_id=f"newer{number}"))
    found = await reader.recent(5, RunState.AWAITING_APPROVAL)
    assert [run.id for run in found] == [RUN]
    assert len(await reader.recent(5)) == 5


async def test_a_list_reads_only_the_facts_that_it_is_asked_for(runs, reader):
    await runs.create(build.alert_accepted())
    (part,) = await reader.recent(5, kinds=[AlertAccepted, RunFinished])
    (none,) = await reader.recent(5, kinds=[RunFinished])
    assert part == await reader.get(RUN)
    assert (none.id, none.state, none.facts) == (RUN, RunState.RECEIVED, {})


async def test_an_event_no_newer_than_the_store_waits_for_its_turn(runs):
    newer = FORMED.model_copy(update={"run_version": 3})
    await runs.begin(newer, "validation", VALIDATE)
    known = build.plan_drafted(run_version=3)
    begin = await runs.begin(known, "action", move(RunState.AWAITING_APPROVAL))
    assert begin.verdict is BeginVerdict.EARLY


async def test_a_renewal_tells_of_a_wish_to_stop(runs):
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    assert await runs.renew(begin.lease) is Renewal.KEPT
    await runs.cancel(RUN)
    assert await runs.renew(begin.lease) is Renewal.CANCELLED


async def test_a_renewal_tells_that_the_run_has_ended(runs):
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    cleared = build.alert_resolved()
    ending = await runs.begin(cleared, "action", move(RunState.INVESTIGATING))
    await runs.commit(ending.lease, move(RunState.INVESTIGATING), cleared, [build.run_finished()])
    assert await runs.renew(begin.lease) is Renewal.CANCELLED
    assert await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED]) == ()


async def test_making_a_run_again_changes_nothing(runs, reader, clock):
    await runs.create(build.alert_accepted())
    before = await reader.get(RUN)
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED])
    clock.advance(60)
    await runs.create(build.alert_accepted(incident_key="another"))
    after = await reader.get(RUN)
    assert after.created_at == before.created_at
    assert after.state is RunState.VALIDATING
    assert after.facts["alert.accepted.v1"] == before.facts["alert.accepted.v1"]


async def test_the_newest_runs_come_first(runs, reader, clock):
    for number in range(3):
        await runs.create(build.alert_accepted(run_id=f"r{number}"))
        clock.advance(1)
    assert [run.id for run in await reader.recent(2)] == ["r2", "r1"]


async def test_no_key_of_a_run_is_kept_for_ever(runs, redis):
    await runs.create(build.alert_accepted())
    begin = await runs.begin(OPENED, "rca", INVESTIGATE)
    await runs.commit(begin.lease, INVESTIGATE, OPENED, [FORMED])
    await runs.begin(FORMED, "validation", VALIDATE)
    held = [key async for key in redis.scan_iter("tocsin:*") if key != keys.runs()]
    assert {key: await redis.ttl(key) > 0 for key in held} == dict.fromkeys(held, True)


async def test_a_store_that_does_not_answer_is_worth_another_try():
    client = store.connect("redis://127.0.0.1:1/0")
    runs = RunStore(client)
    with pytest.raises(TransientError, match=r"script begin on .*r1"):
        await runs.begin(OPENED, "rca", INVESTIGATE)
    with pytest.raises(TransientError, match="read run 'r1'"):
        await RunReader(client).get(RUN)
    await client.aclose()
