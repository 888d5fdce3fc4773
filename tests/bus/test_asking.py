"""One question and one answer over the bus: at once where nobody listens, and never for ever."""

import asyncio
import time
from contextlib import asynccontextmanager

import pytest

from tocsin_contracts import ObjectRef, TieAnswer, TieAsked
from tocsin_ingest.roles import triaging
from tocsin_ingest.settings import Settings
from tocsin_kit import store
from tocsin_kit.asking import Answering, ask
from tocsin_kit.bus import Bus
from tocsin_kit.errors import TransientError
from tocsin_kit.freezes import Freezes
from tocsin_kit.runs import RunStore
from tocsin_rca.discussion.choosing import Chooser
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.harness import BOUND, settings
from tocsin_testing.investigating import asks, limited
from tocsin_testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.servers

ASKED = TieAsked(
    run_id=RUN,
    source="alertmanager",
    about=ObjectRef(kind="Deployment", namespace="payments", name="api"),
    title="It fails",
    candidates=("shop/gitops", "shop/old"),
)
SUBJECT = TieAsked.subject


@asynccontextmanager
async def connected(nats_url, redis_url, service="rca"):
    """Yield the bus of a service; what is asked needs no stream."""
    redis = store.connect(redis_url)
    bus = Bus(settings(service, nats_url=nats_url, redis_url=redis_url), RunStore(redis))
    await bus.start()
    try:
        yield bus
    finally:
        await bus.close()
        await redis.aclose()


async def asked(bus, seconds=BOUND):
    return await ask(bus, SUBJECT, ASKED, TieAnswer, seconds)


async def test_triage_says_which_freeze_holds_now(nats_url, redis_url):
    window = {"name": "year end", "start": "2020-01-01T00:00Z", "end": "2100-01-01T00:00Z"}
    configured = Settings(dev=True, triage={"freezes": [window]})
    alert = build.alert()
    async with (
        connected(nats_url, redis_url, "ingest") as ingest,
        connected(nats_url, redis_url, "action") as action,
    ):
        assert await Freezes(action).now(alert) is None
        async with triaging.freezes(configured, ingest):
            await (await ingest.broker.connect()).flush()
            told = await Freezes(action).now(alert)
        assert told is not None
        assert told.startswith("change freeze 'year end' holds until 2100-01-01")


async def test_a_model_of_another_service_is_asked_and_answers(nats_url, redis_url):
    model = ScriptedModel(asks(("submit", {"number": 1, "why": "It is newer."})))
    chooser = Chooser(limited(), model)
    async with (
        connected(nats_url, redis_url) as rca,
        connected(nats_url, redis_url, "validation") as validation,
        Answering(rca, SUBJECT, TieAsked, chooser.choose, seconds=BOUND),
    ):
        await (await rca.broker.connect()).flush()
        answer = await asked(validation)
    assert answer == TieAnswer(chosen=1, why="It is newer.", model="scripted/model")


async def test_where_nobody_listens_it_is_known_at_once(nats_url, redis_url):
    async with connected(nats_url, redis_url) as bus:
        began = time.monotonic()
        assert await asked(bus, 60) is None
        assert time.monotonic() - began < BOUND


async def fails(_):
    raise TransientError("away")


async def never(_):
    await asyncio.Event().wait()


async def other(_):
    return TieAnswer.model_construct(chosen=99)


@pytest.mark.parametrize(("handler", "seconds"), [(fails, BOUND), (never, 0.05), (other, BOUND)])
async def test_a_handler_without_a_good_answer_is_no_answer(nats_url, redis_url, handler, seconds):
    async with (
        connected(nats_url, redis_url) as bus,
        Answering(bus, SUBJECT, TieAsked, handler, seconds=seconds),
    ):
        assert await asked(bus) is None


async def test_who_asks_does_not_wait_longer_than_it_said(nats_url, redis_url):
    async with (
        connected(nats_url, redis_url) as bus,
        Answering(bus, SUBJECT, TieAsked, never, seconds=1),
    ):
        assert await asked(bus, 0.05) is None


async def test_a_question_of_another_shape_is_answered_with_nothing(nats_url, redis_url):
    heard = []
    async with (
        connected(nats_url, redis_url) as bus,
        Answering(bus, SUBJECT, TieAsked, heard.append, seconds=1),
    ):
        strange = ObjectRef(kind="x", name="y")
        assert await ask(bus, SUBJECT, strange, TieAnswer, BOUND) is None
    assert heard == []


async def test_questions_are_answered_side_by_side_where_that_is_allowed(nats_url, redis_url):
    both = asyncio.Barrier(2)

    async def meets(question):
        await both.wait()
        return TieAnswer(chosen=0)

    async with (
        connected(nats_url, redis_url) as rca,
        Answering(rca, SUBJECT, TieAsked, meets, seconds=BOUND, at_once=2),
    ):
        await (await rca.broker.connect()).flush()
        assert None not in await asyncio.gather(asked(rca), asked(rca))
