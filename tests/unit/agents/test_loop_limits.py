"""The loop ends, or asks: limits are looked at before every call and counted after it."""

from decimal import Decimal

import pytest
from pydantic import BaseModel
from structlog.testing import capture_logs

from tocsin_agents.agent import Agent
from tocsin_agents.limits.budgets import CallLimit, Limit, Limits, UnknownPrice
from tocsin_agents.limits.ledger import MemoryLedger
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.prompting import size
from tocsin_agents.loop.running import Loop
from tocsin_agents.messages import Role
from tocsin_agents.models.port import Usage
from tocsin_agents.models.prices import Price
from tocsin_contracts import Amounts, BudgetScope, Extension, Measure
from tocsin_kit.spending import Spending
from tocsin_testing.agents import FakeTool, invocation, work
from tocsin_testing.fakes import FakeClock
from tocsin_testing.scripted_model import ScriptedModel, asks, says


class Cause(BaseModel):
    cause: str


class Watch:
    """Seconds that pass only when a test, or a tool of it, says so."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def engine(run=None, soft=None, **changes):
    parts = {name: changes.pop(name) for name in ("ledger", "clock") if name in changes}
    limits = Limits(run=run or Limit(model_calls=20), soft=soft, **changes)
    return Engine(limits=limits, **parts)


def agent(model, **changes):
    fields = {"name": "investigator", "description": "Finds causes.", "model": model}
    return Agent(**({"tools": [FakeTool("k8s.pods")]} | fields | changes))


def looks(count, usage=None, first=1):
    """Return answers that each look at something else."""
    extra = {"usage": usage} if usage else {}
    return [
        asks(("k8s.pods", {"n": n}), text=f"look {n}", **extra) for n in range(first, first + count)
    ]


async def ran(agent, engine, **changes):
    return await Loop(agent, engine).run(work(**changes), invocation())


def tool_texts(found):
    return [message.text for message in found.messages if message.role is Role.TOOL]


async def test_the_last_call_of_a_model_is_only_offered_the_result():
    model = ScriptedModel(*looks(2), asks(("submit", {"cause": "memory"})))
    found = await ran(agent(model, output_schema=Cause), engine(Limit(model_calls=3)))
    assert [len(question.tools) for question in model.questions] == [3, 3, 1]
    assert model.questions[2].forced == "submit"
    assert (found.outcome.ending, found.outcome.data) == (Ending.LIMITED, {"cause": "memory"})
    assert found.outcome.exhausted.measure is Measure.MODEL_CALLS


async def test_a_single_call_is_enough_for_an_agent_without_tools():
    found = await ran(agent(ScriptedModel("Yes."), tools=()), engine(Limit(model_calls=1)))
    assert found.outcome.ending is Ending.ANSWERED


async def test_when_the_tool_calls_are_used_up_a_last_answer_is_asked_for():
    pods = FakeTool("k8s.pods")
    three = asks(*(("k8s.pods", {"n": n}) for n in range(3)))
    model = ScriptedModel(three, "Memory, as far as I saw.")
    found = await ran(agent(model, tools=[pods]), engine(Limit(tool_calls=2)))
    assert len(pods.asked) == 2
    assert tool_texts(found)[2] == "refused: no more than 2 calls are left here"
    assert model.questions[1].tools == ()
    assert found.outcome.ending is Ending.LIMITED
    assert found.outcome.text == "Memory, as far as I saw."
    assert found.outcome.exhausted.measure is Measure.TOOL_CALLS


async def test_one_answer_may_ask_for_so_many_tools_only():
    three = asks(*(("k8s.pods", {"n": n}) for n in range(3)))
    found = await ran(agent(ScriptedModel(three, "Memory.")), engine(call=CallLimit(tool_calls=1)))
    assert [text.split(":")[0].split()[0] for text in tool_texts(found)] == ["ok", *["refused"] * 2]
    assert found.outcome.ending is Ending.ANSWERED


async def test_the_very_same_call_is_made_three_times_at_most():
    pods = FakeTool("k8s.pods")
    calls = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', '{"a":1,"b":2}', '{"a": 1,"b": 2}']
    same = [asks(("k8s.pods", {})) for _ in calls]
    script = [
        answer.model_copy(
            update={"calls": (answer.calls[0].model_copy(update={"arguments": text}),)}
        )
        for answer, text in zip(same, calls, strict=True)
    ]
    found = await ran(agent(ScriptedModel(*script, "Memory."), tools=[pods]), engine())
    assert len(pods.asked) == 3
    assert "this very call was made before" in tool_texts(found)[3]
    assert found.outcome.exhausted.measure is Measure.SAME_CALL
    assert found.outcome.ending is Ending.LIMITED


@pytest.mark.parametrize(
    ("limit", "measure"),
    [(Limit(tokens=30), Measure.TOKENS), (Limit(money=Decimal("0.02")), Measure.MONEY)],
)
async def test_at_a_hard_limit_a_run_ends_with_what_it_has(limit, measure):
    usage = Usage(input_tokens=10, output_tokens=5, cost=Decimal("0.01"))
    model = ScriptedModel(*looks(5, usage))
    found = await ran(agent(model), engine(limit))
    assert len(model.questions) == 2
    assert (found.outcome.ending, found.outcome.text) == (Ending.LIMITED, "look 2")
    assert (found.outcome.exhausted.measure, found.outcome.exhausted.scope) == (
        measure,
        BudgetScope.RUN,
    )


async def test_seconds_count_for_models_and_tools():
    watch = Watch()

    async def slow(arguments, context):
        watch.seconds += 40
        return await FakeTool("k8s.pods").call(arguments, context)

    model = ScriptedModel(*looks(5))
    found = await ran(
        agent(model, tools=[FakeTool("k8s.pods", does=slow)]),
        engine(Limit(seconds=60), clock=watch),
    )
    assert (len(model.questions), found.spent.seconds) == (2, 80)
    assert found.outcome.exhausted.measure is Measure.SECONDS


async def test_a_call_that_cost_too_much_is_the_last_one_with_tools():
    dear = Usage(input_tokens=10, cost=Decimal(2))
    model = ScriptedModel(*looks(1, dear), "Memory.")
    found = await ran(agent(model), engine(call=CallLimit(money=Decimal(1))))
    assert found.outcome.exhausted.scope is BudgetScope.CALL
    assert model.questions[1].tools == ()


@pytest.mark.parametrize("scope", [BudgetScope.SOURCE, BudgetScope.DAY])
async def test_what_others_spent_today_counts(scope):
    clock = FakeClock()
    ledger = MemoryLedger(clock)
    spender = "alertmanager" if scope is BudgetScope.SOURCE else "grafana"
    await ledger.count(spender, Spending(tokens=100))
    limits = {scope.value: Limit(tokens=100)}
    found = await ran(agent(ScriptedModel()), engine(ledger=ledger, **limits))
    assert (found.outcome.ending, found.outcome.exhausted.scope) == (Ending.LIMITED, scope)
    clock.advance(86_400)
    found = await ran(agent(ScriptedModel("Memory.")), engine(ledger=ledger, **limits))
    assert found.outcome.ending is Ending.ANSWERED


async def test_another_source_has_a_day_of_its_own():
    ledger = MemoryLedger()
    await ledger.count("grafana", Spending(tokens=100))
    found = await ran(
        agent(ScriptedModel("Memory.")), engine(ledger=ledger, source=Limit(tokens=100))
    )
    assert found.outcome.ending is Ending.ANSWERED


async def test_what_a_run_spends_is_in_the_ledger():
    ledger = MemoryLedger()
    found = await ran(agent(ScriptedModel(*looks(1), "Memory.")), engine(ledger=ledger))
    of_source, of_day = await ledger.today("alertmanager")
    assert of_source == of_day == found.spent
    assert (of_day.model_calls, of_day.tool_calls, of_day.tokens) == (2, 1, 30)


async def test_an_unknown_price_counts_tokens_and_goes_on_or_ends_as_the_operator_says():
    unpriced = Usage(input_tokens=10, cost=None)
    limit = Limit(money=Decimal(1), tokens=1000)
    found = await ran(agent(ScriptedModel(*looks(1, unpriced), "Memory.")), engine(limit))
    assert (found.outcome.ending, found.spent.price) == (Ending.ANSWERED, None)
    refusing = engine(limit, unknown_price=UnknownPrice.REFUSE)
    found = await ran(agent(ScriptedModel(*looks(1, unpriced))), refusing)
    assert found.outcome.exhausted.measure is Measure.PRICE
    free = engine(Limit(tokens=1000), unknown_price=UnknownPrice.REFUSE)
    found = await ran(agent(ScriptedModel(*looks(1, unpriced), "Memory.")), free)
    assert found.outcome.ending is Ending.ANSWERED


SOFT = Limit(tokens=100)
HALF = Usage(input_tokens=30, output_tokens=10, cost=Decimal(0))


async def paused(script, **changes):
    pods = FakeTool("k8s.pods")
    model = ScriptedModel(*script)
    loop = Loop(agent(model, tools=[pods], **changes), engine(SOFT, soft=0.8))
    return loop, model, pods, await loop.run(work(), invocation())


async def test_near_a_limit_the_run_pauses_and_asks_before_it_uses_more_tools():
    _, model, pods, found = await paused(looks(3, HALF))
    assert (found.outcome, found.paused.measure, found.paused.used) == (None, Measure.TOKENS, 80)
    assert (len(model.questions), len(pods.asked)) == (2, 1)
    assert str(found.paused) == "tokens of the run: 80 of 100"


async def test_a_paused_run_asks_the_same_however_often_it_is_run():
    loop, model, _, found = await paused(looks(3, HALF))
    assert await loop.run(work(), invocation()) == found
    assert len(model.questions) == 2


async def test_a_run_that_is_given_more_goes_on():
    loop, model, pods, _ = await paused([*looks(3, HALF), says("Memory.", usage=HALF)])
    more = Extension(by="bo", amounts=Amounts(tokens=200))
    found = await loop.resume(work(), more, invocation())
    assert (found.outcome.ending, found.outcome.text) == (Ending.ANSWERED, "Memory.")
    assert (len(pods.asked), found.spent.tokens, model.left) == (3, 160, 0)


async def test_a_run_that_is_given_a_little_asks_again():
    loop, _, _, _ = await paused(looks(4, HALF))
    more = Extension(by="bo", amounts=Amounts(tokens=40))
    found = await loop.resume(work(), more, invocation())
    assert (found.outcome, found.paused.used, found.paused.limit) == (None, 120, 140)


async def test_d10_three_rounds_of_asking_people_use_every_tool_once():
    loop, model, pods, found = await paused([*looks(4, HALF), says("Memory.", usage=HALF)])
    asked = [len(pods.asked)]
    for tokens in (40, 40, 200):
        assert found.paused
        more = Extension(by="bo", amounts=Amounts(tokens=tokens))
        found = await loop.resume(work(), more, invocation())
        asked.append(len(pods.asked))
    assert asked == [1, 2, 3, 4]
    assert (found.outcome.ending, found.outcome.text, model.left) == (Ending.ANSWERED, "Memory.", 0)


async def test_a_run_that_is_given_nothing_ends_with_a_last_answer():
    loop, model, pods, _ = await paused([*looks(2, HALF), "Memory, perhaps."])
    found = await loop.resume(work(), Extension(by="bo", granted=False), invocation())
    assert (len(pods.asked), model.questions[2].tools) == (1, ())
    assert (found.outcome.ending, found.outcome.text) == (Ending.LIMITED, "Memory, perhaps.")
    assert "only an answer is wanted now" in tool_texts(found)[1]


async def test_nobody_is_asked_for_more_when_the_result_is_there():
    script = [*looks(1, HALF), asks(("submit", {"cause": "memory"}), usage=HALF)]
    _, _, _, found = await paused(script, output_schema=Cause)
    assert (found.outcome.ending, found.outcome.data) == (Ending.ANSWERED, {"cause": "memory"})


async def test_without_a_soft_limit_nobody_is_asked():
    model = ScriptedModel(*looks(3, HALF))
    found = await ran(agent(model), engine(SOFT))
    assert found.outcome.ending is Ending.LIMITED


async def test_a_question_is_made_to_fit_and_one_that_cannot_is_not_asked():
    logs = FakeTool("k8s.logs", "x" * 3000)
    script = [asks(("k8s.logs", {"n": n})) for n in range(6)]
    model = ScriptedModel(*script, "Memory.")
    small = engine(call=CallLimit(tokens=4000, answer_tokens=256))
    found = await ran(agent(model, tools=[logs]), small)
    assert found.outcome.ending is Ending.ANSWERED
    assert all(size(question) <= 4000 for question in model.questions)
    whole = [m for m in model.questions[-1].messages if "xxx" in m.text]
    assert 1 <= len(whole) < 6
    found = await ran(agent(ScriptedModel()), small, request="y" * 20_000)
    assert (found.outcome.ending, found.outcome.exhausted.scope) == (
        Ending.LIMITED,
        BudgetScope.CALL,
    )


async def test_a_model_that_never_gives_its_result_is_asked_for_it_twice_and_no_more():
    stubborn = [asks(("k8s.pods", {})) for _ in range(6)]
    model = ScriptedModel(*stubborn)
    found = await ran(agent(model, output_schema=Cause), engine())
    assert [tool.name for tool in model.questions[-1].tools] == ["submit"]
    assert (found.outcome.ending, model.left) == (Ending.INVALID, 0)


async def test_who_wrote_a_text_before_may_still_give_a_result_when_nothing_more_is_granted():
    submits = asks(("submit", {"cause": "memory"}))
    model = ScriptedModel("Let me see.", *looks(1), submits)
    loop = Loop(agent(model, output_schema=Cause), engine(Limit(model_calls=4), soft=0.5))
    paused = await loop.run(work(), invocation())
    assert paused.paused
    found = await loop.resume(work(), Extension(by="ana", granted=False), invocation())
    assert (found.outcome.ending, found.outcome.data) == (Ending.LIMITED, {"cause": "memory"})


DEAR = Price(input=Decimal(1000), output=Decimal(1000))
"""A tenth of a cent for a token: a question of some hundred tokens costs as many of them."""

MONEY = [
    (BudgetScope.CALL, {"call": CallLimit(money=Decimal("0.05"))}),
    (BudgetScope.RUN, {"run": Limit(money=Decimal("0.05"))}),
    (BudgetScope.SOURCE, {"source": Limit(money=Decimal("0.05"))}),
    (BudgetScope.DAY, {"day": Limit(money=Decimal("0.05"))}),
]


@pytest.mark.parametrize(("scope", "limits"), MONEY, ids=[scope for scope, _ in MONEY])
async def test_a_call_that_costs_more_than_the_money_left_is_not_made(scope, limits):
    model = ScriptedModel("Never.", price=DEAR)
    found = await ran(agent(model), engine(**limits))
    assert model.questions == []
    over = found.outcome.exhausted
    assert (found.outcome.ending, over.measure, over.scope) == (
        Ending.LIMITED,
        Measure.MONEY,
        scope,
    )
    assert (over.used, over.limit) == (0, Decimal("0.05"))
    assert f"money of the {scope.value}: 0 of 0.05, and the next call costs" in found.outcome.why


async def test_what_was_spent_before_counts_and_a_run_ends_with_what_it_has():
    usage = Usage(input_tokens=10, output_tokens=5, cost=Decimal("1.95"))
    model = ScriptedModel(*looks(5, usage), price=DEAR)
    found = await ran(agent(model), engine(Limit(money=Decimal(2))))
    assert len(model.questions) == 1
    assert (found.outcome.ending, found.outcome.text) == (Ending.LIMITED, "look 1")
    over = found.outcome.exhausted
    assert (over.measure, over.used, over.limit) == (Measure.MONEY, Decimal("1.95"), 2)


async def test_more_money_that_people_give_pays_for_the_call():
    usage = Usage(input_tokens=10, output_tokens=5, cost=Decimal("1.5"))
    model = ScriptedModel(*looks(1, usage), "Memory.", price=DEAR)
    loop = Loop(agent(model), engine(Limit(money=Decimal("1.6")), soft=0.5))
    assert (await loop.run(work(), invocation())).paused.measure is Measure.MONEY
    more = Extension(by="ana", amounts=Amounts(money=Decimal(20)))
    found = await loop.resume(work(), more, invocation())
    assert (found.outcome.ending, found.outcome.text) == (Ending.ANSWERED, "Memory.")


async def test_a_price_that_nobody_knows_stops_no_call_and_is_said_once():
    model = ScriptedModel(*looks(2), "Memory.", name="own/model")
    with capture_logs() as lines:
        found = await ran(agent(model), engine(Limit(money=Decimal(1)), day=Limit(money=1)))
    assert found.outcome.ending is Ending.ANSWERED
    said = [line for line in lines if line["event"] == "agents.price_unknown"]
    assert [line["model"] for line in said] == ["own/model"]


async def test_without_a_limit_of_money_nobody_asks_for_a_price():
    class Priceless(ScriptedModel):
        async def price(self):
            raise LookupError("nobody may ask")

    found = await ran(agent(Priceless("Memory."), tools=()), engine())
    assert found.outcome.ending is Ending.ANSWERED
