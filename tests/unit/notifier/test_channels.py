"""Channels: which answers are worth another try, and what never shows in an error."""

import json

import httpx
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_notifier import channels
from tocsin_notifier.channels.log import LogChannel
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.ports import Message

URL = "https://chat.example.com/hooks/s3cret-part"
MESSAGE = Message("e1", "r1", "Run ended", "Nobody knows the cause.")


class Chat:
    """A chat system that answers what the test wants."""

    def __init__(self, answer):
        self.requests = []
        self._answer = answer

    def __call__(self, request):
        self.requests.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        return httpx.Response(self._answer)


async def sent(answer, message=MESSAGE):
    chat = Chat(answer)
    await WebhookChannel(URL, httpx.MockTransport(chat)).send(message)
    return chat.requests


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_a_message_is_posted_as_text_with_the_events_id_as_its_key(status):
    (request,) = await sent(status)
    assert (request.method, str(request.url)) == ("POST", URL)
    assert json.loads(request.content) == {
        "text": "*Run ended*\nNobody knows the cause.",
        "run_id": "r1",
    }
    assert request.headers["idempotency-key"] == "e1"


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


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_an_answer_that_may_change_is_worth_another_try(status):
    with pytest.raises(TransientError, match=f"webhook channel: answered {status}") as failed:
        await sent(status)
    assert "s3cret" not in str(failed.value)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 410])
async def test_p6_an_answer_that_will_not_change_is_final_and_never_shows_the_address(status):
    with pytest.raises(PermanentError, match="check TOCSIN_NOTIFY_WEBHOOK_URL") as failed:
        await sent(status)
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
    with pytest.raises(TransientError, match="webhook channel: no answer") as failed:
        await sent(error)
    assert "s3cret" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__


@pytest.mark.parametrize(
    "url", ["not an address/s3cret", "ftp://s3cret", "https://", "", "https://h:s3cret/"]
)
def test_p6_an_address_that_is_none_stops_the_start_and_never_shows(url):
    with pytest.raises(PermanentError, match="TOCSIN_NOTIFY_WEBHOOK_URL") as refused:
        channels.load(["webhook"], SecretStr(url))
    assert "s3cret" not in str(refused.value)


async def test_the_log_channel_writes_a_line():
    with capture_logs() as lines:
        await LogChannel().send(MESSAGE)
    assert [(line["event"], line["title"], line["text"]) for line in lines] == [
        ("notifier.message", MESSAGE.title, MESSAGE.text)
    ]


def test_the_wanted_channels_are_loaded_in_their_order():
    loaded = channels.load(["webhook", "log"], SecretStr(URL))
    assert [channel.name for channel in loaded] == ["webhook", "log"]


def test_a_webhook_without_an_address_stops_the_start():
    with pytest.raises(PermanentError, match="needs TOCSIN_NOTIFY_WEBHOOK_URL"):
        channels.load(["webhook"], None)


def test_an_unknown_channel_stops_the_start_with_the_known_ones():
    with pytest.raises(PermanentError, match="no 'pigeon'; known: log"):
        channels.load(["pigeon"], None)
