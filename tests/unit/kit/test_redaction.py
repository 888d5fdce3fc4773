"""P6: secrets are masked by what they are, by what they look like and by what they are called."""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_kit.redaction import MASK, Redactor, know

SHAPES = {
    "bearer": ("Authorization: Bearer abcdefgh12345678", "abcdefgh12345678"),
    "basic": ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    "GitHub": ("cloned with ghp_" + "a1B2" * 6, "ghp_" + "a1B2" * 6),
    "GitLab": ("token glpat-" + "a1B2" * 5, "glpat-" + "a1B2" * 5),
    "Slack": ("sent as xoxb-1234567890-abc", "xoxb-1234567890-abc"),
    "AWS": ("key AKIA" + "ABCD" * 4, "AKIA" + "ABCD" * 4),
    "JWT": ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig_nature", "eyJzdWIiOiIxIn0"),
    "URL": ("cannot reach https://ana:hunter2@git.example.com/x", "hunter2"),
    "key": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
        "MIIEow",
    ),
    "GitHub, fine-grained": ("got github_pat_" + "a1B2_" * 6, "a1B2_a1B2_"),
    "Grafana": ("got glsa_" + "a1B2" * 8 + "_0a1b2c3d", "a1B2a1B2"),
    "Slack hook": ("https://hooks.slack.com/services/T0A1/B0A1/" + "a1B2" * 6, "a1B2a1B2"),
    "AWS, for a session": ("key ASIA" + "ABCD" * 4, "ASIA" + "ABCD" * 4),
    "Google": ("key=AIza" + "a1B2-" * 7, "a1B2-a1B2-"),
    "OpenAI": ("as sk-proj-" + "a1B2" * 6, "a1B2a1B2"),
    "Anthropic": ("as sk-ant-api03-" + "a1B2" * 6, "a1B2a1B2"),
    "Stripe": ("as sk_" + "live_" + "a1B2" * 6, "a1B2a1B2"),
    "npm": ("as npm_" + "a1B2" * 9, "a1B2a1B2"),
    "variable": ("DB_PASSWORD=hunter-two", "hunter-two"),
    "JSON": ('{"client_secret": "correct-horse"}', "correct-horse"),
    "JSON within JSON": (r"{\"apiKey\":\"correct-horse\"}", "correct-horse"),
    "YAML": ("api_key: correct-horse", "correct-horse"),
    "query": ("https://example.com/x?a=1&access_token=correct-horse&b=2", "correct-horse"),
    "option": ("mysql --password hunter-two -h db", "hunter-two"),
    "secret with a digit": ("the secret: hunter2-of-ana", "hunter2-of-ana"),
    "AWS, the other half": ("aws_secret_access_key = abc/def+ghi", "abc/def+ghi"),
    "half a key": ("-----BEGIN PRIVATE KEY-----\nMIIEow", "MIIEow"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_p6_a_secret_is_masked_by_its_shape(shape):
    text, secret = SHAPES[shape]
    assert secret in text
    masked = Redactor().text(text)
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("written", [str, str.upper, str.swapcase])
def test_p6_what_may_hide_a_secret_is_looked_at_and_nothing_else_is_masked(shape, written):
    redactor, text = Redactor(["known-secret"]), written(SHAPES[shape][0])
    assert redactor.may_hide(text) or redactor.text(text) == text
    assert redactor.may_hide(SHAPES[shape][0])
    assert redactor.may_hide("a known-secret")
    assert not redactor.may_hide("nothing to see")


def test_a_long_text_that_begins_many_tokens_and_ends_none_is_masked_at_once():
    assert Redactor().text("got " + "eyJ-" * 16_000 + "!") == f"got {MASK}!"


def test_the_words_around_a_secret_stay():
    masked = Redactor().text("cannot reach https://ana:hunter2@git.example.com/x today")
    assert masked == f"cannot reach https://{MASK}@git.example.com/x today"


@pytest.mark.parametrize(
    "text",
    [
        "https://git.example.com:8443/path",
        "payments-api:v1.2.3@sha256:0123456789abcdef",
        "basic checks passed",
        "the bearer of news",
        "secret: registry-credentials is missing in shop",
        "token expired; passwordless login; /etc/passwd: not found",
        "password=${DB_PASSWORD}",
        "disk-pressure on task-runner-1234567890abcdefghij",
        "10:30 by ana@example.com",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert Redactor().text(text) == text


@given(st.text(min_size=6), st.text(), st.text())
def test_p6_a_value_that_settings_hold_is_masked_wherever_it_stands(secret, before, after):
    masked = Redactor([secret]).text(before + secret + after)
    assert secret not in masked.replace(MASK, "")


def test_p6_of_two_secrets_that_overlap_the_longer_is_masked_whole():
    assert Redactor(["secret", "secret-and-more"]).text("x secret-and-more y") == f"x {MASK} y"


def test_a_value_too_short_to_be_a_secret_masks_no_words():
    assert Redactor(["prod", ""]).text("in prod") == "in prod"


@pytest.mark.parametrize(
    "name", ["password", "db_passwd", "api_key", "apikey", "X-Auth-Token", "client_secret"]
)
def test_p6_a_field_is_masked_by_its_name(name):
    assert Redactor().value({name: "plain"}) == {name: MASK}


def test_p6_secrets_are_found_however_deep_they_stand():
    value = {"a": [{"tokens": ["one", "two"]}, ("https://u:p4ss@h/",)], "n": 3, "empty": ""}
    assert Redactor(["topsecret"]).value(value | {"b": {"c": "is topsecret"}}) == {
        "a": [{"tokens": [MASK, MASK]}, (f"https://{MASK}@h/",)],
        "n": 3,
        "empty": "",
        "b": {"c": f"is {MASK}"},
    }


@pytest.mark.parametrize("value", [None, 3, 1.5, True, b"bytes"])
def test_a_value_without_text_stays_as_it_is(value):
    assert Redactor(["secret"]).value(value) is value


WRITTEN = {
    "plain": lambda s: s,
    "JSON": json.dumps,
    "JSON as it is": lambda s: json.dumps(s, ensure_ascii=False),
    "JSON within JSON": lambda s: json.dumps(json.dumps(s)),
    "repr": repr,
    "HTML": html.escape,
    "path": quote,
    "query": quote_plus,
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 of an address": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "a password of basic": lambda s: base64.b64encode(f"user:{s}".encode()).decode(),
    "of a name of another length": lambda s: base64.b64encode(f"users:{s}!".encode()).decode(),
    "of one more": lambda s: base64.b64encode(f"users1:{s}".encode()).decode(),
}
SECRETS = st.text(st.characters(codec="utf-8"), min_size=12, max_size=40)


@pytest.mark.parametrize("way", WRITTEN)
@given(secret=SECRETS)
@settings(max_examples=15)
def test_p6_a_known_secret_is_masked_however_it_is_written(way, secret):
    text = WRITTEN[way](secret)
    masked = Redactor([secret]).text(f"it says {text} there")
    assert MASK in masked
    left = "".join(part for part in masked.removeprefix("it says ").split(MASK))
    longest = len(text) // 2
    assert not any(text[i : i + longest] in left for i in range(len(text) - longest + 1))


def test_p6_what_the_process_knows_is_masked_by_redactors_that_were_made_before():
    before = Redactor(["of-its-own-1"])
    try:
        know(["of-the-process-1", "of-its-own-1-and-more"])
        assert before.text("a of-its-own-1 b of-the-process-1") == f"a {MASK} b {MASK}"
        assert before.text("of-its-own-1-and-more") == MASK
        assert before.may_hide("of-the-process-1")
        assert Redactor().text("of-the-process-1") == MASK
    finally:
        know([])
    assert Redactor().text("of-the-process-1") == "of-the-process-1"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("token", "canary-of-a-variable-7", MASK),
        ("DB_PASSWORD", "hunter-two", MASK),
        ("secret", "registry-credentials", "registry-credentials"),
        ("namespace", "payments", "payments"),
        ("note", "password: hunter-two", f"password: {MASK}"),
    ],
)
def test_p6_a_value_is_masked_as_it_would_be_behind_its_name(name, value, kept):
    assert Redactor().called(name, value) == kept
