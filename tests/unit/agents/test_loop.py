"""The loop: an agent thinks and acts until there is an outcome, within its schema."""

import re

import pytest
from pydantic import BaseModel, Field

from tocsin_agents.agent import Agent
from tocsin_agents.callbacks import Callbacks
from tocsin_agents.instructions.writing import Template
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.events import (
    ModelAnswered,
    ModelAsked,
    StateChanged,
    TextCame,
    ToolEnded,
    ToolProgressed,
    ToolsAway,
    ToolStarted,
)
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.running import Loop
from tocsin_agents.messages import Message, Role
from tocsin_agents.models.port import Answer, ModelAwayError, ModelRefusedError, Usage
from tocsin_agents.tools.port import Status, ToolResult
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing.agents import Ear, FakeTool, invocation, work
from tocsin_testing.scripted_model import ScriptedModel, asks, says


class Cause(BaseModel):
    """What a result looks like in these tests."""

    cause: str
    confidence: float = Field(ge=0, le=1)


def agent(model, **changes):
    fields = {"name": "investigator", "description": "Finds causes.", "model": model}
    return Agent(**(fields | changes))


async def ran(agent, ear=None, engine=None, **changes):
    ear = ear or Ear()
    return await Loop(agent, engine or Engine()).run(work(**changes), invocation(hear=ear.hear))


def submit(cause="memory", confidence=0.9):
    return asks(("submit", {"cause": cause, "confidence": confidence}))


async def test_a_plain_answer_is_the_outcome():
    found = await ran(agent(ScriptedModel("It is the memory limit.")))
    assert (found.outcome.ending, found.outcome.text) == (
        Ending.ANSWERED,
        "It is the memory limit.",
    )
    assert [message.role for message in found.messages] == [Role.USER, Role.ASSISTANT]
    assert found.messages[1].author == "investigator"


async def test_tools_are_used_until_the_model_has_its_answer():
    pods = FakeTool("k8s.pods", {"pods": ["api-1"]})
    model = ScriptedModel(asks(("k8s.pods", {"namespace": "shop"}), ids=["a"]), "api-1 restarts.")
    found = await ran(agent(model, tools=[pods]))
    assert found.outcome.text == "api-1 restarts."
    assert pods.asked == [{"namespace": "shop"}]
    answered = found.messages[2]
    assert (answered.role, answered.call) == (Role.TOOL, "a")
    assert '{"pods": ["api-1"]}' in answered.text
    assert (found.spent.model_calls, found.spent.tool_calls) == (2, 1)


async def test_a_model_is_shown_its_tools_and_the_request():
    model = ScriptedModel("Nothing.")
    await ran(agent(model, tools=[FakeTool("k8s.pods")]))
    question = model.questions[0]
    assert [tool.name for tool in question.tools] == ["k8s.pods", "read_output"]
    assert question.messages[-1] == Message(role=Role.USER, text="Why does it restart?")
    assert question.forced == ""


async def test_the_policy_comes_first_and_only_hashes_of_what_was_told_are_recorded():
    ear = Ear()
    told = agent(ScriptedModel("Nothing."), instructions="Look at the events first.")
    found = await ran(told, ear, Engine(instructions="Answer in English."))
    asked = ear.of(ModelAsked)[0]
    names = [segment.name for segment in asked.segments]
    assert names == ["security", "global", "role", "instructions"]
    assert "events first" not in asked.model_dump_json()
    assert found.prompts["investigator"] == list(asked.segments)
    system = [m for m in told.model.questions[0].messages if m.role is Role.SYSTEM]
    assert all(message.stable for message in system)


async def test_a_template_is_not_stable_and_reads_the_state():
    model = ScriptedModel("Nothing.")
    told = agent(model, instructions=Template("The cluster is {user:cluster}."))
    await ran(told, values={"user:cluster": "prod"})
    system = [m for m in model.questions[0].messages if m.role is Role.SYSTEM]
    assert re.fullmatch(r"The cluster is <<<output (\w{16})>>>prod<<<end \1>>>\.", system[-1].text)
    assert not system[-1].stable


async def test_a_result_is_validated_and_stored_under_its_key():
    model = ScriptedModel(submit())
    found = await ran(agent(model, output_schema=Cause, output_key="cause"))
    assert found.outcome.data == {"cause": "memory", "confidence": 0.9}
    assert found.changes == {"run:cause": {"cause": "memory", "confidence": 0.9}}
    assert [tool.name for tool in model.questions[0].tools] == ["submit"]
    assert model.questions[0].forced == "submit"


async def test_a_wrong_result_is_repaired_once_with_what_was_wrong():
    model = ScriptedModel(submit(confidence=7), submit())
    found = await ran(agent(model, output_schema=Cause, tools=[FakeTool("k8s.pods")]))
    assert found.outcome.ending is Ending.ANSWERED
    told = model.questions[1].messages[-1].text
    assert "confidence: Input should be less than or equal to 1" in told
    assert model.questions[1].forced == "submit"


async def test_a_result_that_is_wrong_twice_is_a_typed_failure():
    model = ScriptedModel(submit(confidence=7), submit(confidence=8))
    found = await ran(agent(model, output_schema=Cause, output_key="cause"))
    assert (found.outcome.ending, found.outcome.data) == (Ending.INVALID, None)
    assert "confidence" in found.outcome.why
    assert found.changes == {}


async def test_a_result_that_a_hook_objects_to_is_repaired_once_too():
    async def unsure(step, found):
        return f"{step.agent} is not sure enough" if found.confidence < 0.5 else None

    hooks = Callbacks(check_result=[unsure])
    model = ScriptedModel(submit(confidence=0.1), submit())
    found = await ran(agent(model, output_schema=Cause, callbacks=hooks))
    assert found.outcome.ending is Ending.ANSWERED
    assert "not sure enough" in model.questions[1].messages[-1].text
    twice = ScriptedModel(submit(confidence=0.1), submit(confidence=0.2))
    found = await ran(agent(twice, output_schema=Cause, callbacks=hooks))
    assert found.outcome.ending is Ending.INVALID
    assert "not sure enough" in found.outcome.why


async def test_a_text_in_place_of_a_result_is_asked_for_again_once():
    schema = {"output_schema": Cause, "tools": [FakeTool("k8s.pods")]}
    model = ScriptedModel("It is memory.", submit())
    found = await ran(agent(model, **schema))
    assert found.outcome.data["cause"] == "memory"
    assert model.questions[1].forced == "submit"
    found = await ran(agent(ScriptedModel("It is memory.", "Memory!"), **schema))
    assert found.outcome.ending is Ending.INVALID


async def test_no_tool_is_used_in_the_answer_that_gives_the_result():
    pods = FakeTool("k8s.pods")
    both = asks(("k8s.pods", {}), ("submit", {"cause": "memory", "confidence": 1}), ids=["a", "b"])
    found = await ran(agent(ScriptedModel(both), output_schema=Cause, tools=[pods]))
    assert (pods.asked, found.outcome.ending) == ([], Ending.ANSWERED)
    assert [m.call for m in found.messages if m.role is Role.TOOL] == ["a", "b"]


async def test_a_thought_is_neither_an_answer_nor_stored():
    model = ScriptedModel(says("Memory.", thought="Could it be the node?"))
    found = await ran(agent(model, output_key="temp:cause"))
    assert found.outcome.text == "Memory."
    assert "node" not in repr(found)


async def test_an_answer_that_was_cut_off_is_partial_and_not_stored():
    model = ScriptedModel(Answer(model="m", text="It is the", cut_off=True))
    found = await ran(agent(model, output_key="cause"))
    assert (found.outcome.ending, found.changes) == (Ending.CUT_OFF, {})
    assert found.outcome.text == "It is the"


async def test_what_is_temporary_never_leaves_the_invocation():
    ear = Ear()
    found = await ran(agent(ScriptedModel("Memory."), output_key="temp:cause"), ear)
    assert found.changes == {}
    assert ear.of(StateChanged) == []


async def test_without_history_only_the_request_is_shown():
    before = [Message(role=Role.USER, text="Hello"), Message(role=Role.ASSISTANT, text="Hi")]
    for included, shown in ((True, 3), (False, 1)):
        model = ScriptedModel("Nothing.")
        await ran(agent(model, include_history=included), history=before)
        said = [m for m in model.questions[0].messages if m.role is not Role.SYSTEM]
        assert len(said) == shown
        assert said[-1].text == "Why does it restart?"


async def test_a_request_has_to_fit_the_input_schema():
    told = agent(ScriptedModel("Fine."), input_schema=Cause)
    found = await ran(told, request={"cause": "memory", "confidence": 1})
    assert found.messages[0].text == '{"cause":"memory","confidence":1.0}'
    with pytest.raises(PermanentError, match="request to agent 'investigator': confidence"):
        await ran(told, request={"cause": "memory", "confidence": 3})
    with pytest.raises(PermanentError, match="no JSON"):
        await ran(told, request="memory")


async def test_everything_that_happens_can_be_heard():
    async def slowly(arguments, context):
        await context.progress("half way")
        return ToolResult(status=Status.OK, data=arguments)

    ear = Ear()
    model = ScriptedModel(asks(("k8s.pods", {"n": 1})), says("It is memory."))
    await ran(agent(model, tools=[FakeTool("k8s.pods", does=slowly)]), ear)
    kinds = [type(event) for event in ear.heard if not isinstance(event, ModelAsked)]
    expected = [ModelAnswered, ToolStarted, ToolProgressed, ToolEnded]
    assert kinds == [*expected, *[TextCame] * 3, ModelAnswered]
    assert "".join(event.text for event in ear.of(TextCame)) == "It is memory."


async def test_a_tool_that_does_not_exist_is_refused_with_the_names_that_do():
    model = ScriptedModel(asks(("k8s.nodes", {})), "Nothing.")
    found = await ran(agent(model, tools=[FakeTool("k8s.pods")]))
    assert "there is no tool 'k8s.nodes'; there are: k8s.pods" in found.messages[2].text


@pytest.mark.parametrize(
    "arguments", ["{", "[1]", '"x"', "[" * 9999, '{"a":' * 60 + "1" + "}" * 60]
)
async def test_arguments_that_are_no_object_are_an_error_to_the_model(arguments):
    wrong = asks(("k8s.pods", {}))
    call = wrong.calls[0].model_copy(update={"arguments": arguments})
    pods = FakeTool("k8s.pods")
    model = ScriptedModel(wrong.model_copy(update={"calls": (call,)}), "Nothing.")
    found = await ran(agent(model, tools=[pods]))
    assert (pods.asked, found.outcome.text) == ([], "Nothing.")
    assert "JSON object" in found.messages[2].text


async def test_words_of_a_model_that_we_repeat_are_few():
    model = ScriptedModel(asks(("x" * 50_000, {})), "Nothing.")
    found = await ran(agent(model, tools=[FakeTool("k8s.pods")]))
    assert len(found.messages[2].text) < 3000


@pytest.mark.parametrize("error", [TransientError("busy"), PermanentError("forbidden")])
async def test_a_tool_that_fails_is_an_error_to_the_model(error):
    model = ScriptedModel(asks(("k8s.pods", {})), "Nothing.")
    found = await ran(agent(model, tools=[FakeTool("k8s.pods", error)]))
    assert str(error) in found.messages[2].text
    assert found.outcome.ending is Ending.ANSWERED


class Set:
    """Tools that come together, or are away."""

    def __init__(self, *tools, error=None):
        self._tools, self._error, self.asked = tools, error, []

    async def tools(self, identity):
        self.asked.append(identity.name)
        if self._error:
            raise self._error
        return self._tools


async def test_a_toolset_is_asked_for_the_identity_and_one_that_is_away_hides_no_other():
    ear, near = Ear(), Set(FakeTool("k8s.pods"))
    away = Set(error=TransientError("git is away"))
    model = ScriptedModel("Nothing.")
    await ran(agent(model, tools=[away, near]), ear)
    assert [tool.name for tool in model.questions[0].tools] == ["k8s.pods", "read_output"]
    assert near.asked == ["ana"]
    assert [event.why for event in ear.of(ToolsAway)] == ["git is away"]


async def test_two_tools_of_one_name_are_refused():
    with pytest.raises(PermanentError, match=r"two tools called 'k8s\.pods'"):
        await ran(agent(ScriptedModel(), tools=[FakeTool("k8s.pods"), FakeTool("k8s.pods")]))


async def test_a_model_that_is_away_is_a_fault_that_passes_and_the_work_goes_on_later():
    pods = FakeTool("k8s.pods")
    model = ScriptedModel(asks(("k8s.pods", {})), ModelAwayError("busy"), "Memory.")
    loop = Loop(agent(model, tools=[pods]), Engine())
    with pytest.raises(ModelAwayError, match="busy"):
        await loop.run(work(), invocation())
    found = await loop.run(work(), invocation())
    assert (found.outcome.text, len(pods.asked)) == ("Memory.", 1)


async def test_a_work_that_is_done_says_once_more_how_it_ended():
    loop = Loop(agent(ScriptedModel("Memory.")), Engine())
    assert await loop.run(work(), invocation()) == await loop.run(work(), invocation())


async def test_a_model_that_refuses_is_a_typed_outcome():
    model = ScriptedModel(asks(("k8s.pods", {}), text="I look."), ModelRefusedError("too long"))
    found = await ran(agent(model, tools=[FakeTool("k8s.pods")]))
    assert (found.outcome.ending, found.outcome.why) == (Ending.REFUSED, "too long")
    assert found.outcome.text == "I look."


async def test_a_price_that_nobody_knows_is_not_zero():
    unpriced = Usage(input_tokens=7, output_tokens=3, cost=None)
    found = await ran(agent(ScriptedModel(says("Memory.", usage=unpriced))))
    assert (found.spent.tokens, found.spent.price) == (10, None)


async def test_calls_whose_ids_a_model_uses_again_are_told_apart():
    once = asks(("k8s.pods", {"n": 1}), ids=["x"])
    twice = asks(("k8s.pods", {"n": 2}), ("k8s.pods", {"n": 3}), ids=["x", ""])
    found = await ran(agent(ScriptedModel(once, twice, "Nothing."), tools=[FakeTool("k8s.pods")]))
    asked = [call.id for message in found.messages for call in message.calls]
    answered = [message.call for message in found.messages if message.role is Role.TOOL]
    assert len(set(asked)) == 3
    assert asked == answered
