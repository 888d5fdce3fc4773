"""Who sent a click: vectors that others computed, and headers that nobody should send."""

import asyncio
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_kit.errors import FullError
from tocsin_notifier.channels.slack import endpoint, signature
from tocsin_notifier.channels.slack.endpoint import MAX_BODY, PATH, Endpoint
from tocsin_testing.fakes import FakeClock
from tocsin_testing.slack.clicking import form, signed
from tocsin_testing.slack.world import SECRET

DOCUMENTED = (
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIG"
    "lgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
"""The worked example of Slack's own documentation."""

VECTORS = [
    (
        "8f742231b10e8888abcd99yyyzzz85a5",
        1531420618,
        DOCUMENTED,
        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    ),
    (
        "s3cr3t-slack",
        1767225600,
        "payload=%7B%7D",
        "v0=997611e53c4fcfd84923cbdd58e7b7ae22b4f77550f64d3fdfc1941ea1cbd487",
    ),
]


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize(
    ("late", "genuine"), [(0, True), (300, True), (-300, True), (301, False), (-301, False)]
)
def test_a_signature_of_slack_is_known_for_five_minutes(vector, late, genuine):
    secret, at, body, signature_ = vector
    now = datetime.fromtimestamp(at + late, UTC)
    given_ = [secret.encode(), body.encode(), [str(at)], [signature_]]
    assert signature.genuine(*given_, now) is genuine
    assert not signature.genuine(b"another", *given_[1:], now)
    assert not signature.genuine(given_[0], body.encode() + b" ", *given_[2:], now)


@settings(max_examples=200)
@given(st.lists(st.text(), max_size=2), st.lists(st.text(), max_size=2))
def test_no_header_is_an_error(timestamps, signatures):
    now = FakeClock().now()
    assert not signature.genuine(b"secret", b"body", timestamps, signatures, now)


class Taken:
    """Clicks that keep what they took."""

    def __init__(self):
        self.taken = []
        self.fault = None

    def take(self, text):
        if self.fault:
            raise self.fault
        self.taken.append(text)


@pytest.fixture
def clicks():
    return Taken()


@pytest.fixture
async def notifier(clicks):
    app = endpoint.build(Endpoint(SECRET, clicks, clicks, FakeClock()))
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://notifier") as client:
        yield client


BODY = form({"type": "block_actions"})
GOOD = signed(BODY, FakeClock().now())
AT, SIGNATURE = signature.TIMESTAMP, signature.SIGNATURE


def without(*names):
    return {name: value for name, value in GOOD.items() if name not in names}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        without(AT),
        without(SIGNATURE),
        GOOD | {AT: ""},
        GOOD | {AT: "abc"},
        GOOD | {AT: "1e9"},
        GOOD | {AT: f"{GOOD[AT]}.0"},
        GOOD | {AT: f"-{GOOD[AT]}"},
        GOOD | {AT: f" {GOOD[AT]}1"},
        GOOD | {AT: "9" * 400},
        GOOD | {AT: "\u0661\u0662".encode()},
        GOOD | {AT: b"\xff\xfe"},
        GOOD | {SIGNATURE: ""},
        GOOD | {SIGNATURE: "v0="},
        GOOD | {SIGNATURE: GOOD[SIGNATURE].upper()},
        GOOD | {SIGNATURE: GOOD[SIGNATURE].replace("v0", "v1")},
        GOOD | {SIGNATURE: GOOD[SIGNATURE][:-1]},
        GOOD | {SIGNATURE: "v0=" + "\u00e9" * 64},
        GOOD | {SIGNATURE: b"v0=\xff" + b"0" * 63},
        signed(BODY, FakeClock().now(), "another secret"),
        signed(BODY + b"&", FakeClock().now()),
    ],
    ids=range(21),
)
async def test_malformed_headers_are_401_and_nothing_is_taken(notifier, clicks, headers):
    raw = [
        (name.encode(), v if isinstance(v, bytes) else v.encode()) for name, v in headers.items()
    ]
    answer = await notifier.post(PATH, content=BODY, headers=raw)
    assert answer.status_code == 401
    assert clicks.taken == []


@pytest.mark.parametrize("doubled", [AT, SIGNATURE])
async def test_a_header_that_is_there_twice_is_401(notifier, doubled):
    headers = [*GOOD.items(), (doubled, GOOD[doubled])]
    assert (await notifier.post(PATH, content=BODY, headers=headers)).status_code == 401


async def test_a_signed_click_is_taken_as_it_was_sent(notifier, clicks):
    answer = await notifier.post(PATH, content=BODY, headers=GOOD)
    assert answer.status_code == 200
    assert clicks.taken == ['{"type": "block_actions"}']


@pytest.mark.parametrize(
    "body",
    [b"", b"payload", b"payload=%7B%7D&payload=%7B%7D", b"\xff\xfe", b"a=1&" * 20, b"other=%7B%7D"],
)
async def test_a_signed_body_that_is_no_click_is_400(notifier, clicks, body):
    headers = signed(body, FakeClock().now())
    assert (await notifier.post(PATH, content=body, headers=headers)).status_code == 400
    assert clicks.taken == []


async def test_a_body_that_is_too_big_is_413_before_it_is_looked_at(notifier, clicks):
    body = b"x" * (MAX_BODY + 1)
    headers = signed(body, FakeClock().now())
    assert (await notifier.post(PATH, content=body, headers=headers)).status_code == 413

    async def chunks():
        for _ in range(MAX_BODY // 1024 + 2):
            yield b"x" * 1024

    answer = await notifier.post(PATH, content=chunks(), headers=headers)
    assert answer.status_code == 413
    assert clicks.taken == []


async def test_a_body_that_does_not_come_is_408(notifier, monkeypatch):
    monkeypatch.setattr(endpoint, "READ_SECONDS", 0.01)

    async def never():
        yield b"payload="
        await asyncio.Event().wait()

    assert (await notifier.post(PATH, content=never(), headers=GOOD)).status_code == 408


async def test_too_many_clicks_at_once_are_503(notifier, clicks):
    clicks.fault = FullError("too many")
    assert (await notifier.post(PATH, content=BODY, headers=GOOD)).status_code == 503


@pytest.mark.parametrize(("method", "path", "status"), [("GET", PATH, 405), ("POST", "/x", 404)])
async def test_nothing_else_is_there(notifier, method, path, status):
    assert (await notifier.request(method, path)).status_code == status
