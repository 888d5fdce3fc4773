"""Waits that end: a cancelled run keeps what it has, a silent model is not waited for."""

import asyncio

import pytest

from tocsin_agents.agent import Agent
from tocsin_agents.limits.budgets import CallLimit, Limit, Limits
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.events import TextCame
from tocsin_agents.loop.following import following
from tocsin_agents.loop.invocation import Cancel
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.running import Loop
from tocsin_agents.loop.watching import Stop, StoppedError, watching
from tocsin_agents.messages import Role
from tocsin_agents.models.port import ModelAwayError
from tocsin_agents.models.retrying import Pauses
from tocsin_agents.models.settings import ModelSettings
from tocsin_agents.remote.config import ExternalAgent
from tocsin_kit.errors import TransientError
from tocsin_testing.agents import Ear, FakeTool, invocation, work
from tocsin_testing.scripted_model import ScriptedModel, Stalled, asks, says

BOUND = 5


def agent(model, *tools):
    return Agent(name="investigator", description="Finds causes.", model=model, tools=tools)


def tool_texts(found):
    return [message.text for message in found.messages if message.role is Role.TOOL]


async def test_a_cancelled_answer_keeps_the_words_that_came_and_the_next_turn_is_told():
    model = ScriptedModel(Stalled(says("It is the memory limit."), words=3))
    cancel = Cancel()
    loop = Loop(agent(model), Engine())
    running = asyncio.create_task(loop.run(work(), invocation(cancel=cancel)))
    async with asyncio.timeout(BOUND):
        await model.stalled.wait()
        cancel.request("bo")
        found = await running
    assert (found.outcome.ending, found.outcome.text) == (Ending.CANCELLED, "It is the ")
    assert found.outcome.why == "cancelled by bo"
    assert found.messages[1].text == "It is the "
    assert "cancelled by bo: the plan above is dropped" in found.messages[2].text
    assert found.spent.unpriced == 1

    after = ScriptedModel("Fine.")
    again = work("What now?", attempt="2", history=found.messages)
    await Loop(agent(after), Engine()).run(again, invocation())
    assert "the plan above is dropped" in after.questions[0].messages[-2].text


async def test_the_tool_that_runs_when_a_run_is_cancelled_ends_and_its_result_is_kept():
    gate, cancel = asyncio.Event(), Cancel()
    slow, waits = FakeTool("k8s.logs", "OOMKilled", gate=gate), FakeTool("k8s.pods")
    model = ScriptedModel(asks(("k8s.logs", {}), ("k8s.pods", {})))
    loop = Loop(agent(model, slow, waits), Engine(at_once=1))
    running = asyncio.create_task(loop.run(work(), invocation(cancel=cancel)))
    async with asyncio.timeout(BOUND):
        await slow.running.wait()
        cancel.request("bo")
        gate.set()
        found = await running
    assert found.outcome.ending is Ending.CANCELLED
    logs, pods = tool_texts(found)
    assert "OOMKilled" in logs
    assert pods == "refused: the run was cancelled before this call"
    assert waits.asked == []
    assert found.messages[-1].role is Role.USER


async def test_a_tool_that_does_not_end_holds_a_cancelled_run_for_its_grace_only():
    cancel = Cancel()
    stuck = FakeTool("k8s.logs", gate=asyncio.Event())
    model = ScriptedModel(asks(("k8s.logs", {})))
    loop = Loop(agent(model, stuck), Engine(grace_seconds=0.01))
    running = asyncio.create_task(loop.run(work(), invocation(cancel=cancel)))
    async with asyncio.timeout(BOUND):
        await stuck.running.wait()
        cancel.request("bo")
        found = await running
    assert "It was still running when the run was cancelled." in tool_texts(found)[0]


async def test_a_run_that_was_cancelled_before_it_began_asks_nobody():
    cancel = Cancel()
    cancel.request("bo")
    found = await Loop(agent(ScriptedModel()), Engine()).run(work(), invocation(cancel=cancel))
    assert found.outcome.ending is Ending.CANCELLED


async def test_a_model_that_falls_silent_is_away():
    limits = Limits(call=CallLimit(idle_seconds=0.02))
    model = ScriptedModel(Stalled(says("It is the memory limit."), words=3))
    with pytest.raises(ModelAwayError, match=r"has said nothing for 0\.02 s"):
        await Loop(agent(model), Engine(limits=limits)).run(work(), invocation())


async def test_a_model_that_does_not_come_to_an_end_is_away():
    limits = Limits(call=CallLimit(seconds=0.02))
    model = ScriptedModel(Stalled(says("Memory.")))
    with pytest.raises(ModelAwayError, match=r"did not come to an end in 0\.02 s"):
        await Loop(agent(model), Engine(limits=limits)).run(work(), invocation())


async def test_a_run_whose_seconds_are_over_ends_with_the_words_that_came():
    limits = Limits(run=Limit(seconds=0.02))
    model = ScriptedModel(Stalled(says("It is the memory limit."), words=3))
    found = await Loop(agent(model), Engine(limits=limits)).run(work(), invocation())
    assert (found.outcome.ending, found.outcome.text) == (Ending.LIMITED, "It is the ")


async def test_the_silence_of_a_model_is_not_counted_while_a_tool_runs():
    limits = Limits(call=CallLimit(idle_seconds=0.02, tool_seconds=BOUND))
    released = asyncio.Event()
    asyncio.get_running_loop().call_later(0.1, released.set)
    model = ScriptedModel(asks(("k8s.logs", {})), "Memory.")
    found = await Loop(
        agent(model, FakeTool("k8s.logs", gate=released)), Engine(limits=limits)
    ).run(work(), invocation())
    assert found.outcome.ending is Ending.ANSWERED
    assert "fine" in tool_texts(found)[0]


async def test_a_tool_that_takes_too_long_is_an_error_and_its_neighbours_answers_stay_in_order():
    limits = Limits(call=CallLimit(tool_seconds=0.02))
    stuck, quick = FakeTool("k8s.logs", gate=asyncio.Event()), FakeTool("k8s.pods", "one pod")
    calls = asks(("k8s.logs", {}), ("k8s.pods", {}), ids=["slow", "quick"])
    model = ScriptedModel(calls, "Memory.")
    found = await Loop(agent(model, stuck, quick), Engine(limits=limits)).run(work(), invocation())
    slow, fast = (m for m in found.messages if m.role is Role.TOOL)
    assert (slow.call, fast.call) == ("slow", "quick")
    assert "k8s.logs did not answer within 0.02 s" in slow.text
    assert "one pod" in fast.text


async def test_the_tools_of_one_answer_run_at_the_same_time_but_only_so_many():
    gate = asyncio.Event()
    tools = [FakeTool(f"k8s.t{n}", n, gate=gate) for n in range(3)]
    calls = asks(*((tool.spec.name, {}) for tool in tools))
    loop = Loop(agent(ScriptedModel(calls, "Memory."), *tools), Engine(at_once=2))
    running = asyncio.create_task(loop.run(work(), invocation()))
    async with asyncio.timeout(BOUND):
        await tools[0].running.wait()
        await tools[1].running.wait()
        assert not tools[2].running.is_set()
        gate.set()
        found = await running
    assert [text.splitlines()[2] for text in tool_texts(found)] == ["0", "1", "2"]


async def test_a_time_out_of_ones_own_is_not_taken_for_the_end_of_the_wait():
    with pytest.raises(TimeoutError):
        async with watching(BOUND, Cancel()):
            raise TimeoutError
    with pytest.raises(StoppedError) as stopped:
        async with watching(0, Cancel()):
            await asyncio.Event().wait()
    assert stopped.value.why is Stop.TIME


async def test_only_the_first_wish_to_stop_counts_and_nobody_is_told_after_the_block():
    cancel, told = Cancel(), []
    with cancel.telling(lambda: told.append(1)):
        cancel.request("bo")
        cancel.request("cy")
    with cancel.telling(lambda: told.append(2)):
        pass
    assert (cancel.by, told) == ("bo", [1, 2])


class Silent:
    """Tools that never say what they are."""

    async def tools(self, identity):
        await asyncio.Event().wait()


async def test_a_toolset_that_hangs_is_worked_without():
    limits = Limits(call=CallLimit(tool_seconds=0.02))
    model = ScriptedModel("Memory.")
    found = await Loop(agent(model, Silent()), Engine(limits=limits)).run(work(), invocation())
    assert (found.outcome.ending, model.questions[0].tools) == (Ending.ANSWERED, ())


async def test_a_wish_to_stop_that_was_said_elsewhere_is_heard_even_if_the_store_was_away():
    said = iter([None, TransientError("away"), "bo"])

    async def wish():
        found = next(said)
        if isinstance(found, TransientError):
            raise found
        return found

    cancel = Cancel()
    model = ScriptedModel(Stalled(says("It is the memory limit."), words=3))
    async with asyncio.timeout(BOUND), following(wish, cancel, every=0.01):
        found = await Loop(agent(model), Engine()).run(work(), invocation(cancel=cancel))
    assert (found.outcome.ending, found.outcome.why) == (Ending.CANCELLED, "cancelled by bo")


async def test_nobody_is_asked_any_more_once_the_work_is_done():
    asked = asyncio.Event()

    async def wish():
        asked.set()

    async with asyncio.timeout(BOUND), following(wish, Cancel(), every=60):
        await asked.wait()
    assert len(asyncio.all_tasks()) == 1


async def test_a_bug_in_looking_is_not_swallowed():
    async def wish():
        raise LookupError("no such run")

    with pytest.raises(LookupError, match="no such run"):
        async with following(wish, Cancel()):
            await asyncio.sleep(0)


class Busy:
    """Says nothing for longer than anybody waits, though it is at work all the time."""

    name = "busy"

    async def answer(self, question, on_text=None):
        for _ in range(5):
            moment = asyncio.Event()
            asyncio.get_running_loop().call_later(0.02, moment.set)
            await moment.wait()
            await on_text("")
        return says("Memory.")


async def test_a_model_that_thinks_or_writes_a_call_is_not_silent():
    ear = Ear()
    limits = Limits(call=CallLimit(idle_seconds=0.06))
    found = await Loop(agent(Busy()), Engine(limits=limits)).run(work(), invocation(hear=ear.hear))
    assert found.outcome.text == "Memory."
    assert ear.of(TextCame) == []


def test_limits_of_a_call_leave_time_for_a_fallback_and_for_an_agent_elsewhere():
    call, patience, pauses = CallLimit(), ModelSettings.model_fields, Pauses()
    stall = patience["model_stall_seconds"].default
    tries = patience["model_attempts"].default
    assert stall + pauses.longest < call.idle_seconds
    assert ExternalAgent(url="https://a.example").seconds < call.tool_seconds
    assert tries * (stall + 8) + patience["model_seconds"].default < call.seconds
