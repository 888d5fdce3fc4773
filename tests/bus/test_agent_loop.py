"""The agent loop on real checkpoints: another worker goes on where one was killed or paused."""

from decimal import Decimal

import pytest

from tocsin_agents.agent import Agent
from tocsin_agents.limits.budgets import Limit, Limits
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.running import Loop
from tocsin_agents.loop.state import TYPES
from tocsin_agents.models.port import ModelAwayError, Usage
from tocsin_contracts import Amounts, Extension
from tocsin_kit import graphs, store
from tocsin_kit.ledger import RedisLedger
from tocsin_testing.agents import FakeTool, invocation, work
from tocsin_testing.fakes import FakeClock
from tocsin_testing.scripted_model import ScriptedModel, asks, says

pytestmark = pytest.mark.servers

COSTLY = Usage(input_tokens=30, output_tokens=10, cached_tokens=5, cost=Decimal("0.000125"))


@pytest.fixture
async def saver(redis_url):
    client = store.connect(redis_url, text=False)
    yield graphs.saver(client, *TYPES)
    await client.aclose()


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


def worker(model, saver, **engine):
    """Return a new worker: nothing of an earlier one but the checkpoints."""
    pods = FakeTool("k8s.pods", {"pods": ["api-1"]})
    agent = Agent(
        name="investigator",
        description="Finds causes.",
        model=model,
        tools=[pods],
        output_key="cause",
    )
    return Loop(agent, Engine(**engine), saver), pods


async def test_another_worker_goes_on_after_the_last_finished_step(saver):
    first = ScriptedModel(asks(("k8s.pods", {}), usage=COSTLY), ModelAwayError("busy"))
    loop, pods = worker(first, saver)
    with pytest.raises(ModelAwayError):
        await loop.run(work(), invocation())
    again, unused = worker(ScriptedModel(says("Memory.", usage=COSTLY)), saver)
    found = await again.run(work(), invocation())
    assert (len(pods.asked), len(unused.asked)) == (1, 0)
    assert (found.outcome.text, found.changes) == ("Memory.", {"run:cause": "Memory."})
    assert (found.spent.money, found.spent.model_calls) == (Decimal("0.000250"), 2)
    assert found.messages[1].calls[0].name == "k8s.pods"


async def test_another_worker_answers_for_a_run_that_paused(saver, redis):
    ledger = RedisLedger(redis, FakeClock())
    engine = {"limits": Limits(run=Limit(tokens=100)), "ledger": ledger}
    looks = [asks(("k8s.pods", {"n": n}), usage=COSTLY) for n in range(2)]
    loop, _ = worker(ScriptedModel(*looks), saver, **engine)
    paused = await loop.run(work(), invocation())
    assert (paused.outcome, paused.paused.used) == (None, 80)
    again, pods = worker(ScriptedModel(says("Memory.", usage=COSTLY)), saver, **engine)
    assert (await again.run(work(), invocation())).paused == paused.paused
    more = Extension(by="bo", amounts=Amounts(tokens=100, money=Decimal(1)))
    found = await again.resume(work(), more, invocation())
    assert (found.outcome.ending, len(pods.asked)) == (Ending.ANSWERED, 1)
    assert await again.run(work(), invocation()) == found
    of_source, of_day = await ledger.today("alertmanager")
    assert of_source == of_day
    assert (of_day.model_calls, of_day.tool_calls, of_day.tokens) == (3, 2, 120)
