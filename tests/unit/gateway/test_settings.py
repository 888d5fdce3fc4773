"""What the gateway refuses to start with."""

import json

import pytest

from tocsin_gateway.settings import Settings
from tocsin_kit.errors import PermanentError

GOOD = "a-token-of-16-ch"


def loaded(monkeypatch, **tokens):
    monkeypatch.setenv("TOCSIN_API_TOKENS", json.dumps(tokens))
    return Settings.load()


def test_a_token_of_16_characters_is_good(monkeypatch):
    assert len(GOOD) == 16
    assert loaded(monkeypatch, ana=GOOD).api_tokens["ana"].get_secret_value() == GOOD


@pytest.mark.parametrize("token", ["", " ", "hunter2", GOOD[1:], " " * 16])
def test_p6_a_token_that_can_be_guessed_stops_the_start_and_does_not_show(monkeypatch, token):
    with pytest.raises(PermanentError, match="TOCSIN_API_TOKENS: the token of 'ben'") as refused:
        loaded(monkeypatch, ana=GOOD, ben=token)
    assert "hunter2" not in str(refused.value)
    assert GOOD[1:] not in str(refused.value)
