"""One event through one handler: what is committed, published, given back and given up."""

import asyncio

import pytest

from tocsin_contracts import RunFinished, RunState
from tocsin_kit import leases
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.moves import ANY, OPEN, move
from tocsin_kit.runs import Begin, BeginVerdict, Lease, Renewal
from tocsin_kit.work import Work
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakePublisher
from tocsin_testing.harness import BOUND

OPENED = build.incident_opened()
INVESTIGATE = move(RunState.RECEIVED, during=RunState.INVESTIGATING)


class Store:
    """A run store that says what the test wants, and keeps what it was told."""

    def __init__(self, verdict=BeginVerdict.GO, renewal=Renewal.KEPT, **begin):
        self.begin_answer = Begin(verdict, Lease(RUN, "rca", OPENED.id, "token"), **begin)
        self.renewal = renewal
        self.committed = []
        self.released = []

    async def begin(self, event, service, allowed):
        return self.begin_answer

    async def commit(self, lease, allowed, event, outgoing):
        self.committed.append((event, list(outgoing)))
        return tuple(outgoing)

    async def release(self, lease, *, counted, cause=""):
        self.released.append((counted, cause))

    async def renew(self, lease):
        return self.renewal


@pytest.fixture
def bus():
    return FakePublisher()


def working(store, bus, renew_every=60):
    return Work("rca", store, bus.publish, renew_every)


def answering(*events):
    async def handler(event):
        return list(events)

    return handler


def failing(error):
    async def handler(event):
        raise error

    return handler


async def untouched(event):
    raise AssertionError("the handler must not be called")


async def test_p5_what_a_handler_answers_is_committed_and_published_with_ids_of_its_own(bus):
    store = Store()
    answers = [build.hypothesis_formed(), build.hypothesis_formed(), build.run_finished()]
    await working(store, bus).handle(OPENED, answering(*answers), INVESTIGATE)
    expected = [one.caused_by(OPENED.id, "rca", n) for n, one in enumerate(answers)]
    assert store.committed == [(OPENED, expected)]
    assert bus.published == expected
    assert len({event.id for event in expected}) == 3


async def test_a_handler_may_answer_one_event_or_nothing(bus):
    store = Store()

    async def one(event):
        return build.hypothesis_formed()

    async def nothing(event):
        return None

    await working(store, bus).handle(OPENED, one, INVESTIGATE)
    await working(store, bus).handle(OPENED, nothing, INVESTIGATE)
    assert [len(outgoing) for _, outgoing in store.committed] == [1, 0]


async def test_p5_an_event_that_was_done_is_told_again_without_being_handled(bus):
    stored = (build.hypothesis_formed(),)
    store = Store(BeginVerdict.DONE, stored=stored)
    await working(store, bus).handle(OPENED, untouched, INVESTIGATE)
    assert bus.published == list(stored)
    assert store.committed == []


async def test_a_stale_event_is_dropped(bus):
    store = Store(BeginVerdict.STALE)
    await working(store, bus).handle(OPENED, untouched, INVESTIGATE)
    assert (store.committed, store.released, bus.published) == ([], [], [])


@pytest.mark.parametrize(
    ("begin", "least", "most"),
    [
        ({"verdict": BeginVerdict.EARLY}, 0.5, 2),
        ({"verdict": BeginVerdict.BUSY, "wait": 0.2}, 0.2, 0.3),
        ({"verdict": BeginVerdict.BUSY, "wait": 60}, 0.5, 2),
    ],
)
async def test_an_event_that_cannot_be_handled_yet_comes_back_soon(bus, begin, least, most):
    with pytest.raises(TransientError) as later:
        await working(Store(**begin), bus).handle(OPENED, untouched, INVESTIGATE)
    assert least <= later.value.retry_in <= most


async def test_an_event_that_failed_too_often_is_given_up_with_the_last_cause(bus):
    store = Store(BeginVerdict.EXHAUSTED, cause="no disk")
    with pytest.raises(PermanentError, match="gave up after repeated failures; the last: no disk"):
        await working(store, bus).handle(OPENED, untouched, INVESTIGATE)
    assert len(store.released) == 1


@pytest.mark.parametrize(
    ("error", "released"),
    [
        (TransientError("later"), (False, "later")),
        (PermanentError("never"), (True, "never")),
        (KeyError("token=s3cret"), (True, "a bug: KeyError")),
    ],
)
async def test_a_failed_try_gives_the_lease_back_and_counts_if_it_was_our_fault(
    bus, error, released
):
    store = Store()
    with pytest.raises(type(error)):
        await working(store, bus).handle(OPENED, failing(error), INVESTIGATE)
    assert store.released == [released]
    assert (store.committed, bus.published) == ([], [])


async def test_a_handler_works_under_its_lease(bus):
    seen = []

    async def look(event):
        seen.append(leases.current())

    store = Store()
    await working(store, bus).handle(OPENED, look, INVESTIGATE)
    assert seen == [store.begin_answer.lease]
    assert leases.current() is None


async def test_a_wish_to_stop_ends_the_work_which_waits_for_the_end_of_the_run(bus):
    store = Store(renewal=Renewal.CANCELLED)

    async def think(event):
        await asyncio.wait_for(asyncio.Event().wait(), BOUND)

    with pytest.raises(TransientError, match="was asked to stop"):
        await working(store, bus, 0.001).handle(OPENED, think, INVESTIGATE)
    assert [counted for counted, _ in store.released] == [False]
    assert (store.committed, bus.published) == ([], [])


@pytest.mark.parametrize("allowed", [ANY, OPEN])
async def test_a_wish_to_stop_leaves_those_alone_who_watch_or_end_runs(bus, allowed):
    store = Store(renewal=Renewal.CANCELLED)

    async def tell(event):
        await asyncio.sleep(0.02)

    await working(store, bus, 0.001).handle(OPENED, tell, allowed)
    assert len(store.committed) == 1


async def test_a_lost_lease_ends_the_work_which_is_done_again_later(bus):
    store = Store(renewal=Renewal.LOST)

    async def think(event):
        await asyncio.wait_for(asyncio.Event().wait(), BOUND)

    with pytest.raises(TransientError, match="was lost"):
        await working(store, bus, 0.001).handle(OPENED, think, INVESTIGATE)
    assert store.committed == []


async def test_a_stopping_service_may_cancel_a_handler(bus):
    store, started = Store(), asyncio.Event()

    async def think(event):
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(working(store, bus).handle(OPENED, think, INVESTIGATE))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert store.committed == []
    assert [counted for counted, _ in store.released] == [False]


@pytest.mark.parametrize("verdict", [BeginVerdict.GO, BeginVerdict.EXHAUSTED])
async def test_p4_a_run_whose_event_cannot_be_handled_ends_with_a_sentence(bus, verdict):
    store = Store(verdict)
    await working(store, bus).fail(RUN, "e1", "rca gave up: no disk")
    (ended,) = bus.published
    assert isinstance(ended, RunFinished)
    assert (ended.outcome, ended.sentence) == (RunState.FAILED, "rca gave up: no disk")
    assert (ended.cause, ended.producer) == ("e1", "rca")


async def test_p4_a_run_that_has_ended_is_not_ended_again(bus):
    await working(Store(BeginVerdict.STALE), bus).fail(RUN, "e1", "s")
    assert bus.published == []


async def test_a_run_that_somebody_works_on_is_ended_later(bus):
    with pytest.raises(TransientError):
        await working(Store(BeginVerdict.BUSY, wait=1), bus).fail(RUN, "e1", "s")


async def test_an_id_that_no_run_can_have_ends_nothing(bus):
    store = Store()
    await working(store, bus).fail("no!run", "e1", "s")
    assert store.committed == []
