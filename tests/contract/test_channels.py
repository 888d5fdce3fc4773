"""What every channel has to do, so that a new one is tested by being named."""

import json
import pkgutil

import httpx
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from tocsin_contracts import RunId
from tocsin_kit.errors import PermanentError
from tocsin_notifier import channels
from tocsin_notifier.channels.slack.card import Surroundings
from tocsin_notifier.channels.slack.channel import Routes, SlackChannel, Sources
from tocsin_notifier.channels.slack.web import Web
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.ports import Message
from tocsin_testing import build
from tocsin_testing.fakes import FakeChannel, FakeClock, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeApprovals
from tocsin_testing.slack.fakes import FakeCards
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import TOKEN


async def logged(message):
    with capture_logs() as lines:
        await channels.load(("log",), None)[0].send(message)
    return str(lines)


async def posted(message):
    requests = []

    def answer(request):
        requests.append(request)
        return httpx.Response(200)

    channel = WebhookChannel("https://chat.example/hook", httpx.MockTransport(answer))
    await channel.send(message)
    return str([json.loads(request.content) for request in requests])


async def edited(message):
    """The message about a run that the store does not know is the whole text."""
    async with serving() as slack:
        channel = SlackChannel(
            Web(TOKEN, slack.api_url),
            FakeCards(),
            Sources(FakeRuns(), FakeApprovals(FakeClock()), FakeTallies()),
            routes=Routes("C0001", {}),
            around=Surroundings(),
            clock=FakeClock(),
        )
        await channel.send(message)
        return str(slack.world.messages)


CHANNELS = [module.name for module in pkgutil.iter_modules(channels.__path__)]
SHOWN = {"log": logged, "webhook": posted, "slack": edited}
"""For each channel, how to see what it shows."""

MESSAGE = Message(
    id="e1",
    run_id=RunId("r1"),
    title="Approve? A plan",
    text="Plan 0123456789ab.",
    event=build.approval_requested(),
)


@pytest.mark.parametrize("name", CHANNELS)
async def test_every_channel_shows_the_whole_message(name):
    shown = await SHOWN[name](MESSAGE)
    assert MESSAGE.title in shown
    assert MESSAGE.text in shown


def test_every_channel_can_be_asked_for_by_its_name():
    slack = FakeChannel("slack")
    loaded = channels.load(list(SHOWN), SecretStr("https://chat.example/hook"), slack)
    assert [channel.name for channel in loaded] == list(SHOWN)


def test_a_channel_that_does_not_exist_stops_the_service_with_the_names_of_those_that_do():
    with pytest.raises(PermanentError, match="no 'pigeon'; known: log"):
        channels.load(["pigeon"], None)
