"""Calls of Slack's Web API: which failures pass, which need somebody, and what no error shows."""

from datetime import timedelta

import pytest

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_notifier.channels.slack.blocks import Shown, section
from tocsin_notifier.channels.slack.web import LATER, GoneError, Place, UnreadableError, Web
from tocsin_testing.build import NOW
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import CHANNEL, TOKEN, Fault, rate_limited

SAID = Shown("S3CRET words", (section("S3CRET words"),))
HERE = Place(CHANNEL, "")


@pytest.fixture
async def slack():
    async with serving() as slack:
        yield slack


@pytest.fixture
def web(slack):
    return Web(TOKEN, slack.api_url)


async def test_a_message_is_posted_edited_and_found_by_its_key(slack, web):
    posted = await web.post(HERE, SAID, "key")
    await web.update(posted, Shown("other"), "key")
    (message,) = slack.world.messages
    assert (message["text"], message["blocks"], message["edits"]) == ("other", [], 1)
    assert await web.find(HERE, "key", NOW) == posted.ts
    assert await web.find(HERE, "another", NOW) == ""
    assert "key" not in str(message["metadata"]["event_payload"].values())


async def test_a_reply_is_found_in_its_thread_only(slack, web):
    parent = await web.post(HERE, SAID, "key")
    reply = await web.post(parent, SAID, "reply", loud=True)
    assert await web.find(parent, "reply", NOW) == reply.ts
    assert await web.find(HERE, "reply", NOW) == ""
    assert slack.world.replies[0]["reply_broadcast"] is True


async def test_a_message_far_up_is_found_and_one_from_before_is_not(slack, web):
    posted = await web.post(HERE, SAID, "key")
    for number in range(450):
        slack.world.messages.append(
            {"channel": CHANNEL, "ts": f"{float(posted.ts) + number + 1:.6f}"}
        )
    assert await web.find(HERE, "key", NOW) == posted.ts
    assert len(slack.world.called("conversations.history")) == 3
    later = NOW.fromtimestamp(float(posted.ts), NOW.tzinfo) + timedelta(hours=1)
    assert await web.find(HERE, "key", later) == ""


@pytest.mark.parametrize("seconds", [1, 30])
async def test_after_a_rate_limit_nothing_is_asked_before_the_time_is_over(slack, web, seconds):
    slack.world.faults["chat.postMessage"] = [rate_limited(seconds)]
    for _ in range(3):
        with pytest.raises(TransientError) as waits:
            await web.post(HERE, SAID, "key")
        assert seconds - 1 < waits.value.retry_in <= seconds
    assert len(slack.world.calls) == 1
    await web.whisper(CHANNEL, "U1", "other calls go on")


@pytest.mark.parametrize("given", ["", "soon", "-1", "99999999999"])
async def test_a_time_to_wait_that_is_none_is_a_minute_or_an_hour(slack, web, given):
    slack.world.faults["chat.postMessage"] = [Fault("ratelimited", 429, given)]
    with pytest.raises(TransientError) as waits:
        await web.post(HERE, SAID, "key")
    assert waits.value.retry_in in (LATER, 3600)


@pytest.mark.parametrize(
    ("fault", "kind", "seconds"),
    [
        (Fault("fatal_error", 500), TransientError, 5),
        (Fault("", 503), TransientError, 5),
        (Fault("internal_error"), TransientError, LATER),
        (Fault("token_revoked"), TransientError, LATER),
        (Fault("channel_not_found"), TransientError, LATER),
        (Fault("not_in_channel"), TransientError, LATER),
        (Fault("something_new"), TransientError, LATER),
        (Fault("invalid_blocks"), UnreadableError, None),
        (Fault("msg_too_long"), UnreadableError, None),
        (Fault("message_not_found"), GoneError, None),
        (Fault(lost=True), TransientError, 5),
    ],
    ids=str,
)
async def test_p6_an_error_says_what_to_do_and_shows_no_secret(slack, web, fault, kind, seconds):
    slack.world.faults["chat.postMessage"] = [fault]
    with pytest.raises(kind) as failed:
        await web.post(HERE, SAID, "key")
    assert getattr(failed.value, "retry_in", None) == seconds
    assert TOKEN not in str(failed.value)
    assert "S3CRET" not in str(failed.value)
    assert failed.value.__cause__ is None


async def test_nobody_there_is_worth_another_try():
    async with serving() as gone:
        url = gone.api_url
    with pytest.raises(TransientError, match="no answer"):
        await Web(TOKEN, url).post(HERE, SAID, "key")


async def test_a_wrong_token_is_tried_again_later(slack):
    with pytest.raises(TransientError, match="invalid_auth") as refused:
        await Web("xoxb-wrong", slack.api_url).post(HERE, SAID, "key")
    assert refused.value.retry_in == LATER
    assert "xoxb" not in str(refused.value)


@pytest.mark.parametrize("error", ["missing_scope", "not_allowed_token_type", "not_in_channel"])
async def test_who_may_not_read_a_channel_finds_nothing_there(slack, web, error):
    slack.world.faults["conversations.history"] = [Fault(error)]
    assert await web.find(HERE, "key", NOW) == ""


def test_what_nobody_can_read_is_final():
    assert issubclass(UnreadableError, PermanentError)
    assert issubclass(GoneError, PermanentError)
