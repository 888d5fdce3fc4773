"""Signed webhooks, seen by whoever receives them: checked with the library of the standard."""

import base64
import json
from datetime import UTC, datetime

import httpx
import pytest
from pydantic import SecretStr
from standardwebhooks import Webhook, WebhookVerificationError

from tocsin_kit.clock import SystemClock
from tocsin_kit.errors import PermanentError
from tocsin_notifier.channels import webhook
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.hooks import Hook
from tocsin_notifier.ports import Message
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock

OLD, NEW, STRANGE = (f"whsec_{base64.b64encode(bytes([n]) * 32).decode()}" for n in range(3))
EVENT = build.run_finished()
MESSAGE = Message(EVENT.id, "r1", "Ended: ä", "<b> & @here", EVENT, "https://t.example/runs/r1")


async def received(*secrets, clock=None):
    requests = []

    def answer(request):
        requests.append(request)
        return httpx.Response(204)

    hook = Hook(
        "audit",
        SecretStr("https://audit.example.com/in"),
        "file '/run/secrets/audit'",
        transport=httpx.MockTransport(answer),
        clock=clock or SystemClock(),
    )
    keys = webhook.keys(SecretStr(" ".join(secrets)), "here") if secrets else ()
    await WebhookChannel("audit", hook, keys).send(MESSAGE)
    (request,) = requests
    return request.content, dict(request.headers)


def verified(secret, body, headers):
    return Webhook(secret).verify(body, headers)


async def test_a_receiver_with_the_secret_can_tell_that_it_is_ours():
    body, headers = await received(NEW)
    assert verified(NEW, body, headers)["data"]["id"] == EVENT.id
    assert headers["webhook-id"] == EVENT.id
    with pytest.raises(WebhookVerificationError):
        verified(STRANGE, body, headers)
    with pytest.raises(WebhookVerificationError):
        verified(NEW, body.replace(b"r1", b"r2"), headers)


async def test_while_a_secret_is_changed_for_another_both_are_good():
    body, headers = await received(OLD, NEW)
    for secret in (OLD, NEW):
        assert verified(secret, body, headers)["run_id"] == "r1"


async def test_an_old_post_that_somebody_sends_again_is_seen_to_be_old():
    body, headers = await received(NEW, clock=FakeClock())
    with pytest.raises(WebhookVerificationError, match="old"):
        verified(NEW, body, headers)


async def test_what_is_posted_is_typed_and_as_it_was_written():
    body, _ = await received(NEW)
    assert json.loads(body) == {
        "type": "run.finished.v1",
        "timestamp": EVENT.at.isoformat(),
        "data": {
            "id": EVENT.id,
            "run_id": "r1",
            "title": "Ended: ä",
            "text": "<b> & @here",
            "links": {"run": "https://t.example/runs/r1"},
        },
        "text": "*Ended: ä*\n&lt;b&gt; &amp; @\u200bhere",
        "run_id": "r1",
    }


async def test_without_a_secret_nothing_is_signed():
    _, headers = await received()
    assert "webhook-signature" not in headers
    assert headers["webhook-id"] == EVENT.id


def test_the_standards_own_example_is_signed_as_it_says():
    (key,) = webhook.keys(SecretStr("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "here")
    at = datetime.fromtimestamp(1614265330, UTC)
    body = b'{"test": 2432232314}'
    signed = f"msg_p5jXN8AQM9LWM0D4loKWxJek.{int(at.timestamp())}.".encode() + body
    assert webhook._sign(key, signed) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    "secret",
    [
        "s3cret",
        "whsec_",
        "whsec_no base64",
        "whsec_c2hvcnQ=",
        "whsec_" + base64.b64encode(b"x" * 65).decode(),
        f"{OLD} {NEW} {STRANGE}",
        OLD.removeprefix("whsec_"),
        "whsec_ä" + OLD.removeprefix("whsec_"),
    ],
)
def test_p6_a_secret_that_is_none_is_refused_and_never_shown(secret):
    with pytest.raises(PermanentError, match="here is no signing secret") as refused:
        webhook.keys(SecretStr(secret), "here")
    assert secret.split("_")[-1] not in str(refused.value) or secret == "whsec_"
