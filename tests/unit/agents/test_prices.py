"""What a call costs is what somebody said it costs; otherwise nobody knows."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from tocsin_agents.models.prices import Counted, Price

LIST = {
    "gpt-x": {
        "litellm_provider": "openai",
        "input_cost_per_token": 1.5e-07,
        "output_cost_per_token": 6e-07,
        "cache_read_input_token_cost": 7.5e-08,
    },
    "deep/thought": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
    "tiered": {
        "litellm_provider": "deep",
        "input_cost_per_token": 1e-06,
        "input_cost_per_token_above_200k_tokens": 2e-06,
        "output_cost_per_token_above_128k_tokens": 4e-06,
    },
    "vast": {"litellm_provider": "vertex_ai-chat-models", "input_cost_per_token": 1e-06},
    "free/image": {"output_cost_per_image": 0.1},
}


def test_cached_and_written_tokens_have_prices_of_their_own():
    price = Price(
        input=Decimal(3), output=Decimal(15), cached=Decimal("0.3"), written=Decimal("3.75")
    )
    used = Counted(input=1_000_000, cached=400_000, written=200_000, output=100_000)
    assert price.of(used) == Decimal("1.2") + Decimal("0.12") + Decimal("0.75") + Decimal("1.5")


def test_without_them_all_input_costs_the_same():
    price = Price(input=Decimal(2), output=Decimal(0))
    assert price.of(Counted(input=1_000_000, cached=500_000, written=1)) == Decimal(2)


def test_the_list_knows_models_by_their_whole_or_their_bare_name():
    assert Price.listed(LIST, "openai/gpt-x").of(Counted(input=1_000_000)) == Decimal("0.15")
    assert Price.listed(LIST, "deep/thought").of(Counted(output=1_000_000)) == Decimal(2)
    assert Price.listed(LIST, "vertex_ai/vast").input == Decimal(1)


@pytest.mark.parametrize("model", ["azure/gpt-x", "openai/none", "free/image", "gpt-x/", "/gpt-x"])
def test_a_model_that_the_list_does_not_price_has_no_price(model):
    assert Price.listed(LIST, model) is None


def test_above_the_first_tier_nobody_knows():
    price = Price.listed(LIST, "deep/tiered")
    assert price.of(Counted(input=128_000)) is not None
    assert price.of(Counted(input=128_001)) is None


def test_a_price_is_never_negative():
    with pytest.raises(ValidationError):
        Price(input=Decimal(-1), output=Decimal(1))


@pytest.mark.parametrize(
    ("price", "least"),
    [
        (Price(input=2, output=9), Decimal(2)),
        (Price(input=2, output=9, cached=Decimal("0.5"), written=3), Decimal("0.5")),
        (Price(input=2, output=9, cached=4), Decimal(2)),
        (Price(input=0, output=9), Decimal(0)),
        (Price(input=2, output=9, most_input=1000), None),
    ],
)
def test_the_least_that_a_question_costs_is_its_input_at_the_lowest_price(price, least):
    assert price.least(1_000_000) == least
