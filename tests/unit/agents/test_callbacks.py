"""Hooks: in order, the first that answers replaces the step, later ones may rewrite."""

import pytest
from pydantic import BaseModel

from tocsin_agents.agent import Agent
from tocsin_agents.callbacks import Callbacks
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.running import Loop
from tocsin_agents.messages import Message, Role
from tocsin_agents.models.port import ModelAwayError, ModelRefusedError
from tocsin_agents.tools.port import Status, ToolResult
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing.agents import FakeTool, invocation, work
from tocsin_testing.scripted_model import ScriptedModel, asks, says


def says_nothing_but(log, name, result=None):
    """Return a hook that writes its name down and returns a result."""

    async def hook(step, *given):
        log.append(name)
        return result(*given) if callable(result) else result

    return hook


async def ran(*script, tools=(), output_schema=None, output_key="", **hooks):
    agent = Agent(
        name="investigator",
        description="Finds causes.",
        model=ScriptedModel(*script),
        tools=tools,
        output_schema=output_schema,
        output_key=output_key,
        callbacks=Callbacks(**hooks),
    )
    return await Loop(agent, Engine()).run(work(), invocation()), agent.model


async def test_before_an_agent_the_first_hook_that_answers_replaces_its_work():
    log = []
    hooks = [
        says_nothing_but(log, "a"),
        says_nothing_but(log, "b", "Known."),
        says_nothing_but(log, "c", "?"),
    ]
    found, model = await ran(before_agent=hooks)
    assert (found.outcome.text, log, model.questions) == ("Known.", ["a", "b"], [])


async def test_before_an_agent_is_once_even_if_the_agent_thinks_often():
    log = []
    await ran(
        asks(("k8s.pods", {})),
        "Memory.",
        tools=[FakeTool("k8s.pods")],
        before_agent=[says_nothing_but(log, "a")],
    )
    assert log == ["a"]


async def test_after_an_agent_each_hook_may_rewrite_what_the_one_before_left():
    hooks = [
        says_nothing_but([], "a", lambda text: text + "!"),
        says_nothing_but([], "b"),
        says_nothing_but([], "c", lambda text: text.upper()),
    ]
    found, _ = await ran("Memory", after_agent=hooks, output_key="cause")
    assert found.outcome.text == "MEMORY!"
    assert found.changes == {"run:cause": "MEMORY!"}


class Cause(BaseModel):
    cause: str


async def test_a_rewritten_result_still_has_to_fit():
    given = asks(("submit", {"cause": "memory"}))
    better = says_nothing_but([], "a", '{"cause": "limit"}')
    found, _ = await ran(given, output_schema=Cause, after_agent=[better])
    assert found.outcome.data == {"cause": "limit"}
    broken = says_nothing_but([], "a", "{}")
    with pytest.raises(PermanentError, match="hook of 'investigator' broke the result: cause"):
        await ran(given, output_schema=Cause, after_agent=[broken])


async def test_a_text_of_a_hook_is_not_stored_where_an_object_belongs():
    hook = says_nothing_but([], "a", "I could not look.")
    for given in ({"agent_error": [hook]}, {"before_agent": [hook]}):
        found, _ = await ran(
            ModelAwayError("busy"), output_schema=Cause, output_key="cause", **given
        )
        assert (found.outcome.text, found.changes) == ("I could not look.", {})


async def test_before_a_model_a_hook_answers_or_asks_something_else():
    found, model = await ran(before_model=[says_nothing_but([], "a", says("Cached."))])
    assert (found.outcome.text, model.questions, found.spent.model_calls) == ("Cached.", [], 0)

    def shorter(question):
        return question.model_copy(update={"messages": question.messages[-1:]})

    _, model = await ran("Memory.", before_model=[says_nothing_but([], "a", shorter)])
    asked = (Message(role=Role.USER, text="Why does it restart?"),)
    assert model.questions[0].messages == asked


async def test_after_a_model_each_hook_may_rewrite_the_answer():
    louder = says_nothing_but([], "a", lambda answer: says(answer.text + "!"))
    found, _ = await ran("Memory", after_model=[louder, louder])
    assert found.outcome.text == "Memory!!"


async def test_the_error_of_a_model_becomes_an_answer_or_another_error():
    answered = says_nothing_but([], "a", says("Without a model: memory."))
    found, _ = await ran(ModelAwayError("busy"), model_error=[answered])
    assert found.outcome.text == "Without a model: memory."

    log = []
    worse = says_nothing_but(log, "a", ModelRefusedError("for ever"))
    seen = says_nothing_but(log, "b", lambda error: log.append(str(error)))
    found, _ = await ran(ModelAwayError("busy"), model_error=[worse, seen])
    assert (found.outcome.ending, found.outcome.why) == (Ending.REFUSED, "for ever")
    assert log == ["a", "b", "for ever"]


async def test_the_error_of_an_agent_becomes_its_outcome_or_another_error():
    answered = says_nothing_but([], "a", "I could not look.")
    found, _ = await ran(ModelAwayError("busy"), agent_error=[answered])
    assert found.outcome.text == "I could not look."
    with pytest.raises(TransientError, match="later"):
        await ran(
            ModelAwayError("busy"),
            agent_error=[says_nothing_but([], "a", TransientError("later"))],
        )


async def test_around_a_tool_hooks_replace_and_rewrite():
    pods = FakeTool("k8s.pods")
    script = [asks(("k8s.pods", {})), "Memory."]
    cached = ToolResult(status=Status.OK, data="cached")
    found, _ = await ran(
        *script,
        tools=[pods],
        before_tool=[says_nothing_but([], "a", cached)],
        after_tool=[
            says_nothing_but(
                [],
                "b",
                lambda call, result: result.model_copy(
                    update={"data": f"{result.data} {call.name}"}
                ),
            )
        ],
    )
    assert pods.asked == []
    assert "cached k8s.pods" in found.messages[2].text


async def test_the_error_of_a_tool_becomes_a_result_or_another_error():
    script = [asks(("k8s.pods", {})), "Memory."]
    tools = [FakeTool("k8s.pods", TransientError("busy"))]
    instead = says_nothing_but([], "a", ToolResult(status=Status.OK, data="from a snapshot"))
    found, _ = await ran(*script, tools=tools, tool_error=[instead])
    assert "from a snapshot" in found.messages[2].text
    clearer = says_nothing_but([], "a", PermanentError("the API server is overloaded"))
    found, _ = await ran(*script, tools=tools, tool_error=[clearer])
    assert "the API server is overloaded" in found.messages[2].text


@pytest.mark.parametrize("when", ["before_tool", "after_tool"])
async def test_a_hook_of_a_tool_that_fails_is_an_error_to_the_model(when):
    async def failing(step, *given):
        raise TransientError("the store is away")

    tools = [FakeTool("k8s.pods")]
    found, _ = await ran(asks(("k8s.pods", {})), "Memory.", tools=tools, **{when: [failing]})
    assert "the store is away" in found.messages[2].text
    assert found.outcome.text == "Memory."


async def test_hooks_change_the_state_and_the_change_is_kept():
    async def count(step, question):
        step.state["asked"] = step.state.get("asked", 0) + 1
        step.state["temp:last"] = len(question.messages)

    found, _ = await ran(
        asks(("k8s.pods", {})), "Memory.", tools=[FakeTool("k8s.pods")], before_model=[count]
    )
    assert found.changes == {"run:asked": 2}
