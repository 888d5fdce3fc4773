"""What a refusal means: asked again where that helps, else a person is told what to do."""

import pytest

from tocsin_agents.models.failures import Failure
from tocsin_agents.models.port import ModelAwayError, ModelRefusedError


def error(status, says="x", **more):
    return Failure(status, says, **more).error("openai/gpt-x")


@pytest.mark.parametrize("status", [0, 408, 409, 425, 429, 500, 502, 503, 529, 200])
def test_what_passes_is_worth_asking_again(status):
    assert isinstance(error(status), ModelAwayError)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "does not take the question"),
        (401, "set TOCSIN_MODEL_KEYS"),
        (402, "provider's billing"),
        (403, "look at its permissions"),
        (404, "look at TOCSIN_MODEL"),
        (413, "name a model with more room"),
        (422, "does not take the question"),
        (451, "does not take the question"),
        (499, "does not take the question"),
    ],
)
def test_what_stays_is_refused_with_what_to_do(status, advice):
    refused = error(status, "said")
    assert isinstance(refused, ModelRefusedError)
    assert str(refused).startswith("the model 'openai/gpt-x' refuses: ")
    assert advice in str(refused)
    assert str(refused).endswith("(said)")


def test_a_question_that_is_too_long_never_fits_later():
    assert isinstance(error(400, too_long=True), ModelRefusedError)


def test_an_account_without_credit_is_not_a_busy_model():
    assert isinstance(error(429, code="insufficient_quota"), ModelRefusedError)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("0.5", 0.5), ("-3", 0), ("1e9", 3600), ("nan", 1), ("Wed, 21 Oct 2026", 1)],
)
def test_the_wish_to_be_left_alone_is_heard_within_reason(header, seconds):
    assert error(429, headers={"retry-after": header}).retry_in == seconds
