"""What people can say to an investigation that waits for a larger budget."""

from datetime import timedelta
from decimal import Decimal

import pytest

from tocsin_contracts import Amounts, BudgetExtended, ModelUse, RunState
from tocsin_gateway import budgets, views
from tocsin_gateway.budgets import BudgetAnswer
from tocsin_gateway.refusals import RefusedError
from tocsin_testing import build

ASKED = build.budget_exhausted(id="asked", model_use=ModelUse(models=("a/b",), tokens=7))
MORE = BudgetAnswer(amounts=Amounts(model_calls=10, money=Decimal("0.5")), reason="go on")


def waiting(*facts, state=RunState.INVESTIGATING):
    return build.run(build.alert_accepted(), ASKED, *facts, state=state)


def test_an_answer_is_a_fact_with_who_gave_it_and_what_it_answers():
    told = budgets.answered(waiting(), MORE, "ana")
    assert isinstance(told, BudgetExtended)
    assert (told.by, told.surface, told.answers) == ("ana", "gateway", "asked")
    assert told.extension.amounts == MORE.amounts
    assert told.extension.granted


def test_nothing_more_is_an_answer_too():
    told = budgets.answered(waiting(), BudgetAnswer(granted=False), "ana")
    assert not told.extension.granted


def test_to_grant_nothing_is_refused():
    with pytest.raises(RefusedError, match="nothing is given"):
        budgets.answered(waiting(), BudgetAnswer(), "ana")


@pytest.mark.parametrize(
    "run",
    [
        build.run(build.alert_accepted(), state=RunState.INVESTIGATING),
        waiting(build.budget_extended(answers="asked")),
        waiting(state=RunState.VALIDATING),
        waiting(state=RunState.CANCELLED),
    ],
    ids=["never asked", "answered", "went on", "ended"],
)
def test_a_run_that_does_not_wait_takes_no_answer(run):
    with pytest.raises(RefusedError, match="waits for no larger budget"):
        budgets.answered(run, MORE, "ana")
    assert not (views.budget(run) and views.budget(run).waits)


def test_a_run_shows_that_it_waits_and_what_its_model_used():
    view = views.detail(waiting(build.budget_extended(answers="an earlier one")), None)
    assert view.budget.waits
    assert view.budget.exhausted == ASKED.exhausted
    assert view.model_use == ASKED.model_use


def test_a_run_shows_what_models_used_in_all_of_its_attempts():
    first = ModelUse(models=("a/b",), model_calls=2, tokens=100, cost=Decimal("0.5"))
    second = ModelUse(models=("c/d", "a/b"), model_calls=1, tokens=7, cost=Decimal("0.25"))
    formed = build.hypothesis_formed(model_use_before=first, model_use=second)
    used = views.detail(build.run(build.alert_accepted(), formed), None).model_use
    assert (used.models, used.model_calls, used.tokens) == (("a/b", "c/d"), 3, 107)
    assert used.cost == Decimal("0.75")
    unknown = formed.model_copy(update={"model_use": second.model_copy(update={"cost": None})})
    assert views.model_use(build.run(unknown)).cost is None


def test_an_ending_that_knows_of_no_model_hides_no_use_of_one():
    formed = build.hypothesis_formed(model_use=ModelUse(tokens=7))
    later = build.investigation_inconclusive(at=formed.at + timedelta(hours=1))
    assert views.model_use(build.run(formed, later)).tokens == 7


def test_a_run_without_a_model_shows_no_use_of_one():
    run = build.run(build.alert_accepted(), build.hypothesis_formed())
    assert views.detail(run, None).model_use is None
