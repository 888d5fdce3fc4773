"""Full outputs of tools on a real store: any worker reads on in them, and they are bounded."""

import os
from datetime import timedelta

import pytest

from tocsin_agents.agent import Agent
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.outputs import PAGE_CHARACTERS, READ_OUTPUT
from tocsin_agents.loop.running import Loop
from tocsin_agents.loop.state import TYPES
from tocsin_agents.models.port import ModelAwayError
from tocsin_kit import graphs, keys, store
from tocsin_kit.outputs import RedisOutputs
from tocsin_kit.redaction import Redactor
from tocsin_testing.agents import FakeTool, invocation, work
from tocsin_testing.build import RUN
from tocsin_testing.scripted_model import ScriptedModel, asks

pytestmark = pytest.mark.servers

LONG = "\n".join(f"line {number} of a long log" for number in range(2000))


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url, text=False)
    yield client
    await client.aclose()


async def test_after_a_crash_another_worker_reads_on_in_what_was_cut(redis):
    def worker(*script):
        """Know only what is in the store."""
        engine = Engine(outputs=RedisOutputs(redis, Redactor()))
        model, log = ScriptedModel(*script), FakeTool("log.read", LONG)
        agent = Agent(name="root", description="looks.", model=model, tools=(log,))
        return Loop(agent, engine, graphs.saver(redis, *TYPES)), model, log

    first, _, _ = worker(asks(("log.read", {})), ModelAwayError("the worker dies"))
    with pytest.raises(ModelAwayError):
        await first.run(work(), invocation())

    ref = await RedisOutputs(redis, Redactor()).keep(RUN, LONG)
    page = asks((READ_OUTPUT, {"ref": ref, "offset": PAGE_CHARACTERS}))
    second, model, log = worker(page, "Seen.")
    ran = await second.run(work(), invocation())
    assert ran.outcome.text == "Seen."
    assert log.asked == [], "the tool is not used again"
    assert f'read_output(ref="{ref}")' in model.questions[0].messages[-1].text
    read = model.questions[1].messages[-1].text
    assert LONG[PAGE_CHARACTERS : 2 * PAGE_CHARACTERS] in read


async def test_a_scope_cannot_read_what_another_one_kept(redis):
    outputs = RedisOutputs(redis, Redactor())
    ref = await outputs.keep("one", "a text")
    assert (await outputs.read("one", ref, 2, 3)).text == "tex"
    assert await outputs.read("other", ref, 0, 10) is None


async def test_outputs_are_masked_packed_and_forgotten_after_some_days(redis):
    outputs = RedisOutputs(redis, Redactor(["hunter2-known"]), kept=timedelta(days=2))
    ref = await outputs.keep(RUN, f"hunter2-known and password: swordfish9\n{LONG}")
    page = await outputs.read(RUN, ref, 0, 1000)
    assert "hunter2" not in page.text
    assert "swordfish9" not in page.text
    assert await redis.hstrlen(keys.outputs(RUN), ref) < len(LONG) / 3
    assert 0 < await redis.pttl(keys.outputs(RUN)) <= timedelta(days=2).total_seconds() * 1000


async def test_a_scope_has_room_for_so_much_and_the_same_text_takes_it_once(redis):
    outputs = RedisOutputs(redis, Redactor(), most=3000)
    first = os.urandom(800).hex()
    refs = {await outputs.keep(RUN, first) for _ in range(5)}
    assert len(refs) == 1
    assert "" not in refs
    assert await outputs.keep(RUN, os.urandom(9000).hex()) == ""
    assert await outputs.read(RUN, refs.pop(), 0, 9999) is not None


async def test_a_store_that_is_away_costs_nobody_an_answer():
    client = store.connect("redis://127.0.0.1:1/0", text=False)
    assert await RedisOutputs(client, Redactor()).keep(RUN, "a text") == ""
    await client.aclose()
