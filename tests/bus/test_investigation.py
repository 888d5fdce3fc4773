"""A model investigates on a real bus and store: it waits, goes on elsewhere, and stops."""

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from tocsin_agents.limits.budgets import Limits
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.state import TYPES
from tocsin_contracts import (
    Amounts,
    BudgetExhausted,
    BudgetExtended,
    HypothesisFormed,
    IncidentOpened,
    RunState,
)
from tocsin_gateway import budgets
from tocsin_gateway.budgets import BudgetAnswer
from tocsin_kit import graphs, store
from tocsin_kit.clock import SystemClock
from tocsin_kit.ledger import RedisLedger
from tocsin_kit.run_view import RunReader
from tocsin_kit.topology import FACTS, durable
from tocsin_rca import app
from tocsin_rca.handlers import Listeners
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.harness import running, until
from tocsin_testing.investigating import Workplace, looks, submits, world
from tocsin_testing.scripted_model import ScriptedModel, Stalled, says

pytestmark = pytest.mark.servers

WORKER = Path(__file__).with_name("investigating_worker.py")
ALERT = build.alert(workload=build.workload(namespace="shop", name="web", kind="Deployment"))
LOW = Limits(run={"tokens": 18}, soft=0.8)


def opened():
    event = build.incident_opened(alert=ALERT, at=SystemClock().now())
    return event.caused_by("triage", "ingest")


class Late:
    """Sets timers on a bus that is there later."""

    bus = None

    async def set_timer(self, timer):
        await self.bus.set_timer(timer)


@pytest.fixture
def rca(nats_url, redis_url, tmp_path):
    """Run rca with a scripted model, and its bus and store."""

    @asynccontextmanager
    async def started(*script, limits=None, patience=timedelta(minutes=30)):
        redis, raw = store.connect(redis_url), store.connect(redis_url, text=False)
        model, timers = ScriptedModel(*script), Late()
        place = Workplace(
            world=world(tmp_path, SystemClock()),
            runs=RunReader(redis),
            saver=graphs.saver(raw, *TYPES),
            timers=timers,
            engine=Engine(limits=limits or Limits(), ledger=RedisLedger(redis)),
            patience=patience,
        )
        handlers, _ = place.worker(model)

        def subscribe(bus):
            timers.bus = bus
            app.listen(bus, place.runs, handlers, Listeners(FakeLateNews()), stoppable=False)

        try:
            async with running(nats_url, redis_url, subscribe) as rig:
                yield rig, model
        finally:
            await redis.aclose()
            await raw.aclose()

    return started


async def fact(rig, kind, bound=15):
    found = await until(rig.facts, lambda facts: any(isinstance(f, kind) for f in facts), bound)
    return next(one for one in found if isinstance(one, kind))


async def test_it_waits_for_people_who_give_more_and_then_ends(rca):
    async with rca(looks(), submits(), limits=LOW) as (rig, model):
        await rig.bus.publish(opened())
        pause = await fact(rig, BudgetExhausted)
        run = await until(lambda: rig.reader.get(RUN), lambda r: r.fact(BudgetExhausted))
        assert run.state is RunState.INVESTIGATING
        assert (len(model.questions), pause.model_use.model_calls) == (1, 1)
        more = BudgetAnswer(amounts=Amounts(tokens=500))
        await rig.bus.publish(budgets.answered(run, more, "ana"))
        formed = await fact(rig, HypothesisFormed)
        assert formed.model_use.model_calls == len(model.questions) == 2
        moved = await until(lambda: rig.reader.get(RUN), lambda r: r.fact(HypothesisFormed))
        assert moved.state is RunState.VALIDATING
        assert moved.fact(BudgetExtended).by == "ana"


async def test_p4_unanswered_it_ends_by_itself(rca):
    brief = timedelta(seconds=1)
    async with rca(looks(), submits(), limits=LOW, patience=brief) as (rig, model):
        await rig.bus.publish(opened())
        formed = await fact(rig, HypothesisFormed)
        assert [tool.name for tool in model.questions[1].tools] == ["submit"]
        assert formed.model_use.model_calls == 2
        told = await fact(rig, BudgetExtended)
        assert (told.by, told.granted) == ("tocsin", False)


async def test_p5_after_a_kill_another_worker_goes_on_and_no_call_is_paid_twice(
    rca, nats_url, redis_url, tmp_path
):
    victim = tmp_path / "victim"
    victim.mkdir()
    async with rca(submits()) as (rig, model):
        await rig.bus.close()
        killed = await asyncio.create_subprocess_exec(
            sys.executable, str(WORKER), nats_url, redis_url, str(victim)
        )
        event = opened()
        await rig.js.publish(event.subject, event.model_dump_json().encode(), stream=FACTS)
        try:
            async with asyncio.timeout(180):
                assert await killed.wait() == -signal.SIGKILL
        finally:
            if killed.returncode is None:
                killed.kill()
        assert model.questions == []
    async with rca(submits()) as (rig, model):
        formed = await fact(rig, HypothesisFormed)
        assert len(model.questions) == 1
        assert model.questions[0].messages[-1].role == "tool"
        assert (formed.model_use.model_calls, formed.model_use.tokens) == (2, 30)
        _, of_day = await RedisLedger(rig.redis, SystemClock()).today("alertmanager")
        assert (of_day.model_calls, of_day.tool_calls, of_day.tokens) == (2, 1, 30)


async def test_a_wish_to_stop_that_was_said_elsewhere_is_heard(rca):
    stalled = Stalled(says("I will look at the nodes next."), words=2)
    async with rca(looks(), stalled) as (rig, model):
        await rig.bus.publish(opened())
        async with asyncio.timeout(60):
            await model.stalled.wait()
        await rig.runs.cancel(RUN)
        await rig.settled(durable("rca", IncidentOpened))
        assert [type(one).__name__ for one in await rig.facts()] == ["IncidentOpened"]
