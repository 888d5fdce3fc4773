"""Limits are arithmetic: what is spent never passes a limit unseen, and shares add up to less."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from tocsin_agents.limits.budgets import Limit, UnknownPrice
from tocsin_agents.limits.checking import unpriced, used_up
from tocsin_contracts import Amounts, BudgetScope, Measure
from tocsin_kit.spending import Spending

NUMBERS = st.integers(0, 50)
MONEY = st.decimals(0, 5, places=3)
LIMITS = st.builds(
    Limit,
    model_calls=st.none() | NUMBERS,
    tool_calls=st.none() | NUMBERS,
    tokens=st.none() | NUMBERS,
    seconds=st.none() | st.floats(0, 50),
    money=st.none() | MONEY,
)
SPENT = st.builds(
    Spending,
    model_calls=NUMBERS,
    tool_calls=NUMBERS,
    tokens=NUMBERS,
    seconds=st.floats(0, 50),
    money=MONEY,
)
MEASURES = list(Limit.model_fields)
RUN = BudgetScope.RUN


@given(LIMITS, SPENT)
def test_a_limit_is_used_up_exactly_if_one_of_its_measures_is(limit, spent):
    reached = {
        name
        for name in MEASURES
        if (most := getattr(limit, name)) is not None
        and Decimal(str(getattr(spent, name))) >= Decimal(str(most))
    }
    found = used_up(limit, spent, RUN)
    assert (found is not None) == bool(reached)
    assert found is None or found.measure.value in reached


@given(LIMITS, SPENT)
def test_people_are_asked_before_a_limit_is_reached_and_never_after(limit, spent):
    if used_up(limit, spent, RUN):
        assert used_up(limit, spent, RUN, share=0.8)


@given(LIMITS, SPENT, st.builds(Amounts, tokens=NUMBERS, money=MONEY, seconds=st.floats(0, 9)))
def test_more_never_makes_a_limit_smaller_and_no_limit_stays_none(limit, spent, more):
    extended = limit.extended(more)
    for name in MEASURES:
        before, after = getattr(limit, name), getattr(extended, name)
        assert (before is None) == (after is None)
        assert before is None or after >= before
    if not used_up(limit, spent, RUN):
        assert not used_up(extended, spent, RUN)


@given(LIMITS, st.integers(1, 7))
def test_shares_together_stay_within_the_whole(limit, by):
    share = limit.shared(by)
    for name in MEASURES:
        whole, part = getattr(limit, name), getattr(share, name)
        assert (whole is None) == (part is None)
        assert whole is None or float(part) * by <= float(whole) * (1 + 1e-9)


@given(st.lists(SPENT, max_size=5))
def test_spendings_add_up_in_any_order(spent):
    total = sum(spent, Spending())
    assert total.tokens == sum(one.tokens for one in spent)
    assert total.money == sum((one.money for one in reversed(spent)), Decimal(0))


def test_an_unknown_price_stops_only_a_limit_of_money_that_is_to_be_strict():
    spent = Spending(unpriced=2, money=Decimal("0.1"))
    strict = unpriced(Limit(money=Decimal(1)), spent, RUN, UnknownPrice.REFUSE)
    assert (strict.measure, strict.used) == (Measure.PRICE, 2)
    assert unpriced(Limit(tokens=5), spent, RUN, UnknownPrice.REFUSE) is None
    assert unpriced(Limit(money=Decimal(1)), spent, RUN, UnknownPrice.COUNT) is None
    assert unpriced(Limit(money=Decimal(1)), Spending(), RUN, UnknownPrice.REFUSE) is None


def test_what_is_known_of_the_price_counts_even_where_a_part_is_unknown():
    spent = Spending(unpriced=1, money=Decimal(2))
    assert used_up(Limit(money=Decimal(1)), spent, RUN).measure is Measure.MONEY
    assert spent.price is None
