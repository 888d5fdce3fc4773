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


@pytest.mark.parametrize("other", [GOOD, f" {GOOD} "])
def test_p3_two_people_with_one_token_stop_the_start_and_it_does_not_show(monkeypatch, other):
    with pytest.raises(PermanentError, match="'ana' and 'ben' hold the same token") as refused:
        loaded(monkeypatch, ana=GOOD, cy=GOOD[::-1], ben=other)
    assert GOOD not in str(refused.value)


def test_who_has_no_role_of_their_own_may_look_and_no_more(monkeypatch):
    monkeypatch.setenv("TOCSIN_API_ROLES", '{"ana": "approver"}')
    settings = loaded(monkeypatch, ana=GOOD)
    assert (settings.api_roles, settings.api_default_role) == ({"ana": "approver"}, "viewer")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"API_ROLES": '{"ana": "root"}'}, "api_roles"),
        ({"TRUSTED_PROXIES": '["10.0.0.300"]'}, "trusted_proxies"),
        ({"PROXY_ROLES": '{"sre": "approver"}'}, "set TOCSIN_TRUSTED_PROXIES"),
        ({"PROXY_JWT_HEADER": "X-Word"}, "set TOCSIN_PROXY_JWT_KEYS"),
        (
            {"PROXY_JWT_HEADER": "X-Word", "PROXY_JWT_KEYS": "/keys.json"},
            "set TOCSIN_PROXY_JWT_AUDIENCE",
        ),
        (
            {
                "PROXY_JWT_HEADER": "X-Word",
                "PROXY_JWT_KEYS": "/keys.json",
                "PROXY_JWT_AUDIENCE": "tocsin",
            },
            "set TOCSIN_TRUSTED_PROXIES",
        ),
    ],
)
def test_access_that_was_set_up_by_half_stops_the_start(monkeypatch, given, said):
    for name, value in given.items():
        monkeypatch.setenv(f"TOCSIN_{name}", value)
    with pytest.raises(PermanentError, match=said):
        loaded(monkeypatch, ana=GOOD)
