"""Socket Mode: the same clicks over a connection that comes back."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from tocsin_kit.errors import FullError
from tocsin_notifier.channels.slack.socket import Socket
from tocsin_notifier.channels.slack.web import Web
from tocsin_testing.harness import until
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import APP_TOKEN, TOKEN, Fault

PAYLOAD = {"type": "block_actions", "user": {"id": "U0001"}}


class Taken:
    """Clicks that keep what they took, and answer what the test wants."""

    def __init__(self, reply=None):
        self.taken = []
        self.reply = reply

    def take(self, text):
        if isinstance(self.reply, Exception):
            raise self.reply
        self.taken.append(text)
        return self.reply


@pytest.fixture
async def slack():
    async with serving() as slack:
        yield slack


@asynccontextmanager
async def listening(slack, clicks):
    socket = Socket(APP_TOKEN, Web(TOKEN, slack.api_url), clicks, clicks, look_seconds=0.02)
    task = asyncio.create_task(socket.listen())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_click_is_acknowledged_and_taken(slack):
    clicks = Taken()
    async with listening(slack, clicks):
        assert await slack.send(PAYLOAD) == {"envelope_id": "e1"}
    assert clicks.taken == ['{"type": "block_actions", "user": {"id": "U0001"}}']


async def test_what_a_window_has_to_hear_goes_with_the_acknowledgement(slack):
    reply = {"response_action": "errors", "errors": {"why": "Say why."}}
    async with listening(slack, Taken(reply)):
        assert (await slack.send(PAYLOAD))["payload"] == reply


async def test_a_click_that_could_not_be_taken_is_acknowledged_all_the_same(slack):
    async with listening(slack, Taken(FullError("too many"))):
        assert await slack.send(PAYLOAD) == {"envelope_id": "e1"}


async def test_a_connection_that_was_lost_is_made_anew(slack):
    clicks = Taken()
    async with listening(slack, clicks):
        await slack.send(PAYLOAD)
        await slack.sockets[0].close()

        async def sockets():
            return len(slack.sockets)

        await until(sockets, lambda count: count > 1)
        await slack.send(PAYLOAD, "e2")
    assert len(clicks.taken) == 2


async def test_a_start_that_slack_refused_is_tried_again(slack, monkeypatch):
    monkeypatch.setattr("tocsin_notifier.channels.slack.socket.CONNECT_SECONDS", 0.2)
    slack.world.faults["apps.connections.open"] = [Fault("internal_error")]
    clicks = Taken()
    async with listening(slack, clicks):
        await slack.send(PAYLOAD)
    assert len(clicks.taken) == 1
