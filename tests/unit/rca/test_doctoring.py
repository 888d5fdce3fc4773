"""What `tocsin doctor` says of models: whether they answer, and what it costs to ask."""

import pytest

from tocsin_agents.models.port import Answer, ModelAwayError, ModelRefusedError, Usage
from tocsin_contracts.doctor import Condition
from tocsin_rca.doctoring import QUESTION, examine
from tocsin_rca.settings import Settings


class Model:
    """Answers, or fails."""

    name = "lab/small"

    def __init__(self, error=None):
        self.error = error
        self.asked = []

    async def answer(self, question, on_text=None):
        self.asked.append(question)
        if self.error:
            raise self.error
        return Answer(model="lab/small", text="yes", usage=Usage(input_tokens=9, output_tokens=1))


async def examined(asked, asks=True, **settings):
    known = Settings(**({"model": "lab/small"} | settings))
    return await examine(known, asks=asks, model=lambda *_: asked)


async def test_one_model_with_two_roles_is_asked_once_and_shortly():
    model = Model()
    (found,) = await examined(model)
    assert (found.condition, found.told) == (
        Condition.OK,
        "lab/small answers, with 10 tokens",
    )
    assert model.asked == [QUESTION]
    assert QUESTION.most_tokens <= 16


async def test_nobody_is_asked_who_should_not_be():
    model = Model()
    (found,) = await examined(model, asks=False)
    assert (found.condition, model.asked) == (Condition.UNKNOWN, [])


async def test_without_a_model_rules_do_it():
    (found,) = await examined(None, model="")
    assert found.condition is Condition.OK


@pytest.mark.parametrize(
    ("error", "condition"),
    [
        (ModelAwayError("no answer"), Condition.WARNING),
        (ModelRefusedError("unknown key"), Condition.PROBLEM),
    ],
)
async def test_a_model_that_does_not_answer_says_why(error, condition):
    (found,) = await examined(Model(error))
    assert (found.condition, found.told) == (condition, str(error))
    assert found.do
