"""A tool that changes something, and a worker that dies under it, on a real store."""

from datetime import timedelta

import pytest

from tocsin_agents.agent import Agent
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.running import Loop
from tocsin_agents.loop.state import TYPES
from tocsin_agents.tools.port import Capability, ToolContext
from tocsin_agents.tools.wrappers import once
from tocsin_kit import graphs, keys, store
from tocsin_kit.begun import RedisBegun
from tocsin_testing.agents import ANA, FakeTool, invocation, work
from tocsin_testing.build import RUN
from tocsin_testing.scripted_model import ScriptedModel, asks
from tocsin_testing.tools import FixedToolset

pytestmark = pytest.mark.servers

CONTEXT = ToolContext(identity=ANA, run_id=RUN)


class KilledError(Exception):
    """The end of a worker."""


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url, text=False)
    yield client
    await client.aclose()


async def test_after_a_crash_another_worker_does_not_do_it_again(redis):
    done = []

    async def order(arguments, context):
        done.append(context.call)
        raise KilledError

    def worker(*script):
        """Know only what is in the store."""
        tool = FakeTool("shop.order", capability=Capability.WRITE, does=order)
        tools = once(FixedToolset(tool), RedisBegun(redis))
        model = ScriptedModel(*script)
        agent = Agent(name="root", description="orders.", model=model, tools=(tools,))
        return Loop(agent, Engine(), graphs.saver(redis, *TYPES)), model

    first, _ = worker(asks(("shop.order", {"n": 1}), ids=["call-1"]))
    with pytest.raises(ExceptionGroup):
        await first.run(work(), invocation(tools=CONTEXT))
    second, model = worker("I will look first.")
    ran = await second.run(work(), invocation(tools=CONTEXT))
    assert ran.outcome.text == "I will look first."
    assert done == ["call-1"]
    assert "outcome unknown: this call of shop.order" in model.questions[0].messages[-1].text


async def test_it_is_remembered_for_all_and_not_for_ever(redis):
    one, other = RedisBegun(redis, timedelta(days=2)), RedisBegun(redis)
    assert (await one.begin("a"), await other.begin("a"), await other.begin("b")) == (
        True,
        False,
        True,
    )
    assert 0 < await redis.pttl(keys.begun("a")) <= timedelta(days=2).total_seconds() * 1000


async def test_an_answer_that_was_lost_and_asked_for_again_is_still_ones_own(redis):
    class Lossy:
        """Sends a command again, as the library does when the connection breaks under it."""

        async def set(self, *given, **more):
            await redis.set(*given, **more)
            return await redis.set(*given, **more)

    begun = RedisBegun(Lossy())
    assert (await begun.begin("c"), await begun.begin("c")) == (True, False)
