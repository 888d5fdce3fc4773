"""Channels: which answers are worth another try, and what never shows in an error."""

import json
from datetime import UTC, datetime

import httpx
import pytest
from structlog.testing import capture_logs

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_notifier import channels
from tocsin_notifier.channels.log import LogChannel
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.hooks import Hook, retry_after
from tocsin_notifier.ports import Message
from tocsin_notifier.settings import Settings
from tocsin_testing.fakes import FakeChannel, FakeClock

URL = "https://chat.example.com/hooks/s3cret-part"
PLACE = "TOCSIN_NOTIFY_WEBHOOK_URL"
MESSAGE = Message("e1", "r1", "Run ended", "Nobody knows the cause.")


class Secret(str):
    """A secret as settings hand it over."""

    def get_secret_value(self):
        return str(self)


class Chat:
    """A chat system that answers what the test wants."""

    def __init__(self, answer, headers=None):
        self.requests = []
        self._answer = answer
        self._headers = headers

    def __call__(self, request):
        self.requests.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        return httpx.Response(self._answer, headers=self._headers)


async def sent(answer, message=MESSAGE, headers=None):
    chat = Chat(answer, headers)
    transport = httpx.MockTransport(chat)
    hook = Hook("webhook", Secret(URL), PLACE, transport=transport, clock=FakeClock())
    await WebhookChannel("webhook", hook).send(message)
    return chat.requests


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_a_message_is_posted_as_json_with_the_events_id_as_its_key(status):
    (request,) = await sent(status)
    assert (request.method, str(request.url)) == ("POST", URL)
    body = json.loads(request.content)
    assert body["text"] == "*Run ended*\nNobody knows the cause."
    assert body["run_id"] == "r1"
    assert request.headers["idempotency-key"] == "e1"
    assert request.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<!channel> hear", "&lt;!channel&gt; hear"),
        ("<https://h|here> & there", "&lt;https://h|here&gt; &amp; there"),
        ("@here, _@all_", "@\u200bhere, _@\u200ball_"),
        ("<@U123>", "&lt;@\u200bU123&gt;"),
        ("an image@sha256:0a, a line @@ -1 +1 @@", "an image@sha256:0a, a line @@ -1 +1 @@"),
        ('it\'s "so"', 'it\'s "so"'),
    ],
)
async def test_p9_no_text_calls_people_or_shows_a_link_as_something_else(said, shown):
    (request,) = await sent(200, Message("e1", "r1", said, said))
    assert json.loads(request.content)["text"] == f"*{shown}*\n{shown}"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_an_answer_that_may_change_is_worth_another_try(status):
    with pytest.raises(TransientError, match=f"channel 'webhook': answered {status}") as failed:
        await sent(status)
    assert "s3cret" not in str(failed.value)


async def test_who_wants_to_be_left_alone_is_asked_again_after_that():
    with pytest.raises(TransientError) as failed:
        await sent(429, headers={"retry-after": "37"})
    assert failed.value.retry_in == 37


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0.25", 1),
        ("90", 90),
        ("999999", 3600),
        ("-3", 1),
        ("Mon, 02 Mar 2026 10:02:00 GMT", 120),
        ("Mon, 02 Mar 2026 09:00:00 GMT", 1),
        ("soon", 5),
        ("", 5),
        ("nan", 5),
    ],
)
def test_a_wait_is_read_in_every_form_and_has_bounds(said, seconds):
    assert retry_after(said, datetime(2026, 3, 2, 10, tzinfo=UTC)) == seconds


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 410, 413])
async def test_p6_an_answer_that_will_not_change_is_final_and_never_shows_the_address(status):
    where = {"location": "https://elsewhere.example.com/"}
    with pytest.raises(PermanentError, match=f"check {PLACE}") as failed:
        await sent(status, headers=where)
    assert str(status) in str(failed.value)
    assert "s3cret" not in str(failed.value)


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError(f"cannot reach {URL}"),
        httpx.ReadTimeout(f"no answer from {URL}"),
        httpx.RemoteProtocolError(URL),
    ],
)
async def test_p6_silence_is_worth_another_try_and_never_shows_the_address(error):
    with pytest.raises(TransientError, match="channel 'webhook': no answer") as failed:
        await sent(error)
    assert "s3cret" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__


def settings(**changes):
    return Settings.model_validate(changes)


@pytest.mark.parametrize(
    "url", ["not an address/s3cret", "ftp://s3cret", "https://", "", "https://h:s3cret/"]
)
def test_p6_an_address_that_is_none_stops_the_start_and_never_shows(url):
    with pytest.raises(PermanentError, match="TOCSIN_NOTIFY_WEBHOOK_URL") as refused:
        channels.load(settings(notify_channels=["webhook"], notify_webhook_url=url))
    assert "s3cret" not in str(refused.value)


async def test_the_log_channel_writes_a_line():
    with capture_logs() as lines:
        await LogChannel().send(MESSAGE)
    assert [(line["event"], line["title"], line["text"]) for line in lines] == [
        ("notifier.message", MESSAGE.title, MESSAGE.text)
    ]


def test_the_usual_channels_are_loaded_in_their_order_and_then_those_of_routes(monkeypatch):
    monkeypatch.setenv("PAYMENTS_URL", URL)
    chat = {"name": "payments", "type": "teams", "url": {"env": "PAYMENTS_URL"}}
    rules = {"channels": [chat], "routes": [{"to": ["payments", "slack"]}]}
    loaded = channels.load(
        settings(notify_channels=["webhook", "log"], notify_webhook_url=URL, notify=rules),
        FakeChannel("slack"),
    )
    assert [channel.name for channel in loaded] == ["webhook", "log", "payments", "slack"]


def test_a_channel_of_the_table_can_be_a_usual_one(monkeypatch):
    monkeypatch.setenv("PAYMENTS_URL", URL)
    chat = {"name": "payments", "type": "discord", "url": {"env": "PAYMENTS_URL"}}
    loaded = channels.load(settings(notify_channels=["payments"], notify={"channels": [chat]}))
    assert [channel.name for channel in loaded] == ["payments"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"notify_channels": ["webhook"]}, "needs TOCSIN_NOTIFY_WEBHOOK_URL"),
        ({"notify": {"routes": [{"to": "webhook"}]}}, "needs TOCSIN_NOTIFY_WEBHOOK_URL"),
        ({"notify": {"routes": [{"to": "slack"}]}}, "needs TOCSIN_SLACK_BOT_TOKEN"),
        ({"notify_channels": ["pigeon"]}, "no 'pigeon'; known: log"),
        (
            {"notify": {"channels": [{"name": "a", "type": "teams", "url": {"env": "NO_URL"}}]}},
            "channel 'a': environment variable 'NO_URL' is not set",
        ),
        (
            {"notify_webhook_url": URL, "notify_webhook_secret": "whsec_c2hvcnQ="},
            "channel 'webhook': TOCSIN_NOTIFY_WEBHOOK_SECRET is no signing secret",
        ),
    ],
)
def test_a_channel_that_lacks_something_stops_the_start(changes, said):
    with pytest.raises(PermanentError, match=said):
        channels.load(settings(**changes))
