"""A model that is away is asked again, then the next one is; whatever was used is counted."""

import asyncio
from decimal import Decimal

import pytest
from prometheus_client import REGISTRY

from tocsin_agents.messages import Message, Role
from tocsin_agents.models.fallback import Fallback
from tocsin_agents.models.metering import Metered
from tocsin_agents.models.port import (
    Answer,
    ModelAwayError,
    ModelRefusedError,
    Question,
    Usage,
)
from tocsin_agents.models.retrying import Pauses, Retrying
from tocsin_agents.models.telling import AGAIN
from tocsin_testing.scripted_model import ScriptedModel, Stalled, says

QUESTION = Question(messages=(Message(role=Role.USER, text="why?"),))


def away(seconds=1.0):
    return ModelAwayError("away", retry_in=seconds)


class Sleeps(list):
    async def __call__(self, seconds):
        self.append(seconds)


def retrying(*script, attempts=3, chance=0.0, longest=30.0):
    sleeps, model = Sleeps(), ScriptedModel(*script)
    return Retrying(model, attempts, Pauses(sleeps, lambda: chance, longest)), sleeps


class Breaks:
    """Says a piece, and breaks off unless it is the last try."""

    name = "breaking"

    def __init__(self, *pieces):
        self._pieces = list(pieces)

    async def answer(self, question, on_text=None):
        piece = self._pieces.pop(0)
        if on_text:
            await on_text(piece)
        if self._pieces:
            raise away()
        return Answer(model=self.name, text=piece)


async def test_pauses_double_and_spread():
    model, sleeps = retrying(away(), away(), "yes", chance=1.0)
    assert (await model.answer(QUESTION)).text == "yes"
    assert sleeps == [1.5, 3.0]


async def test_nobody_is_asked_sooner_than_they_wished():
    model, sleeps = retrying(away(7), "yes")
    await model.answer(QUESTION)
    assert sleeps == [7]


async def test_tries_are_counted():
    model, sleeps = retrying(away(), away(), attempts=2)
    with pytest.raises(ModelAwayError):
        await model.answer(QUESTION)
    assert len(sleeps) == 1


async def test_who_would_wait_too_long_gives_up_at_once():
    model, sleeps = retrying(away(31))
    with pytest.raises(ModelAwayError) as gone:
        await model.answer(QUESTION)
    assert (gone.value.retry_in, sleeps) == (31, [])


async def test_what_is_refused_is_not_asked_again():
    model, sleeps = retrying(ModelRefusedError("no"))
    with pytest.raises(ModelRefusedError):
        await model.answer(QUESTION)
    assert sleeps == []


async def test_a_listener_learns_that_an_answer_starts_again():
    told = []

    async def listen(piece):
        told.append(piece)

    model = Retrying(Breaks("o", "one"), pauses=Pauses(Sleeps()))
    await model.answer(QUESTION, listen)
    assert told == ["o", AGAIN, "one"]
    told.clear()
    await Fallback([Breaks("half", "?"), ScriptedModel("whole")]).answer(QUESTION, listen)
    assert told == ["half", AGAIN, "whole"]


@pytest.mark.parametrize("error", [away(), ModelRefusedError("too long")])
async def test_the_next_model_answers_for_one_that_cannot(error):
    model = Fallback([ScriptedModel(error, name="a/a"), ScriptedModel("yes", name="b/b")])
    answer = await model.answer(QUESTION)
    assert (model.name, answer.model, answer.text) == ("a/a", "b/b", "yes")


async def test_a_model_that_answers_leaves_the_others_alone():
    second = ScriptedModel()
    await Fallback([ScriptedModel("yes"), second]).answer(QUESTION)
    assert second.questions == []


async def test_if_all_fail_the_soonest_time_to_come_back_is_told():
    model = Fallback([ScriptedModel(ModelRefusedError("no key")), ScriptedModel(away(9))])
    with pytest.raises(ModelAwayError, match="no key; away") as gone:
        await model.answer(QUESTION)
    assert gone.value.retry_in == 9


async def test_if_all_refuse_waiting_does_not_help():
    model = Fallback([ScriptedModel(ModelRefusedError("a")), ScriptedModel(ModelRefusedError("b"))])
    with pytest.raises(ModelRefusedError, match="a; b"):
        await model.answer(QUESTION)


def counted(name, **labels):
    return REGISTRY.get_sample_value(f"tocsin_model_{name}_total", labels) or 0


async def test_calls_tokens_and_money_are_counted_and_told():
    told, seconds = [], iter((10.0, 12.5))
    usage = Usage(input_tokens=100, cached_tokens=60, output_tokens=7, cost=Decimal("0.25"))

    async def listen(name, used):
        told.append((name, used))

    model = Metered(
        ScriptedModel(says("x", usage=usage), name="m/1"), listen, lambda: next(seconds)
    )
    await model.answer(QUESTION)
    assert told == [("m/1", usage)]
    assert counted("calls", model="m/1", end="answered") == 1
    assert counted("seconds", model="m/1") == 2.5
    kinds = {kind: counted("tokens", model="m/1", kind=kind) for kind in ("input", "cached")}
    assert kinds == {"input": 40, "cached": 60}
    assert counted("tokens", model="m/1", kind="output") == 7
    assert (counted("cost_dollars", model="m/1"), counted("unpriced", model="m/1")) == (0.25, 0)


async def test_a_call_that_nobody_can_price_costs_not_nothing_but_is_counted_apart():
    model = Metered(ScriptedModel(says("x", usage=Usage(cost=None)), name="m/2"))
    await model.answer(QUESTION)
    assert (counted("cost_dollars", model="m/2"), counted("unpriced", model="m/2")) == (0, 1)


async def test_calls_that_fail_or_are_cancelled_count():
    stalled = Stalled(says("x"))
    script = ScriptedModel(away(), ModelRefusedError("no"), stalled, name="m/3")
    model = Metered(script)
    for error in (ModelAwayError, ModelRefusedError):
        with pytest.raises(error):
            await model.answer(QUESTION)
    asking = asyncio.create_task(model.answer(QUESTION))
    await script.stalled.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    ends = [counted("calls", model="m/3", end=end) for end in ("away", "refused", "cancelled")]
    assert ends == [1, 1, 1]


async def test_another_try_is_a_sign_of_life_though_nothing_was_said():
    told = []

    async def hear(text):
        told.append(text)

    model, _ = retrying(away(), "yes")
    await model.answer(QUESTION, hear)
    assert told == ["", "yes"]
