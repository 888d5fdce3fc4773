"""The model that tests use keeps to its script."""

import asyncio

import pytest

from tocsin_agents.messages import Message, Role
from tocsin_agents.models.port import ModelAwayError, Question
from tocsin_testing.scripted_model import ScriptedModel, Stalled, asks, says

QUESTION = Question(messages=(Message(role=Role.USER, text="why?"),))


async def test_lines_come_in_order_and_questions_are_kept():
    model = ScriptedModel("one", says("two"), asks(("k8s.get", {"name": "api"}), ids=["a"]))
    answers = [await model.answer(QUESTION) for _ in range(3)]
    assert [answer.text for answer in answers] == ["one", "two", ""]
    assert answers[2].calls[0].arguments == '{"name": "api"}'
    assert (model.questions, model.left) == ([QUESTION] * 3, 0)


async def test_a_text_is_streamed_word_by_word():
    heard = []

    async def hear(piece):
        heard.append(piece)

    await ScriptedModel("the cause is memory").answer(QUESTION, hear)
    assert heard == ["the ", "cause ", "is ", "memory"]


async def test_an_error_in_the_script_is_raised():
    with pytest.raises(ModelAwayError, match="busy"):
        await ScriptedModel(ModelAwayError("busy")).answer(QUESTION)


async def test_a_stalled_answer_says_its_first_words_and_waits_for_its_gate():
    heard = []

    async def hear(piece):
        heard.append(piece)

    line = Stalled(says("the cause is memory"), words=2)
    model = ScriptedModel(line)
    asking = asyncio.create_task(model.answer(QUESTION, hear))
    await model.stalled.wait()
    assert heard == ["the ", "cause "]
    line.gate.set()
    assert (await asking).text == "the cause is memory"


async def test_a_question_too_many_fails():
    with pytest.raises(AssertionError, match="asked once too often"):
        await ScriptedModel().answer(QUESTION)
