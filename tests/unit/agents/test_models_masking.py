"""P6: whoever asked for it, no secret goes to a model's provider."""

import json

import pytest

from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_agents.models.masking import Masked
from tocsin_agents.models.port import Question
from tocsin_kit.redaction import MASK, Redactor
from tocsin_testing.scripted_model import ScriptedModel, says

TOKEN = "ghp_" + "a1B2" * 6


async def test_p6_every_text_of_a_question_is_masked_and_the_rest_stays():
    model = ScriptedModel(says("Fine."))
    call = ToolCall(id="c1", name="k8s.logs", arguments=json.dumps({"words": TOKEN}))
    question = Question(
        messages=(
            Message(role=Role.SYSTEM, text="You look.", stable=True),
            Message(role=Role.USER, text=f"It says {TOKEN} and tulip-7731."),
            Message(role=Role.ASSISTANT, calls=(call,)),
            Message(role=Role.TOOL, text=f"token={TOKEN}", call="c1"),
        ),
        forced="submit",
    )
    answer = await Masked(model, Redactor(["tulip-7731"])).answer(question)
    (asked,) = model.questions
    assert answer.text == "Fine."
    assert TOKEN not in asked.model_dump_json()
    assert asked.messages[0] == question.messages[0]
    assert asked.messages[1].text == f"It says {MASK} and {MASK}."
    assert json.loads(asked.messages[2].calls[0].arguments) == {"words": MASK}
    assert (asked.forced, asked.messages[3].call) == ("submit", "c1")


async def test_p6_what_cannot_be_masked_is_not_sent():
    class Broken(Redactor):
        def text(self, value):
            raise ValueError(len(value))

    model = ScriptedModel(says("Fine."))
    question = Question(messages=(Message(role=Role.USER, text="Why"),))
    with pytest.raises(ValueError, match="3"):
        await Masked(model, Broken()).answer(question)
    assert model.questions == []
