"""What every channel has to do, so that a new one is tested by being named."""

import json
import pkgutil

import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as Mailbox
from pydantic import SecretStr
from structlog.testing import capture_logs

from tocsin_contracts import RunId
from tocsin_kit.errors import PermanentError
from tocsin_kit.processes import free_ports
from tocsin_notifier import channels
from tocsin_notifier.channels import discord, google_chat, mattermost, teams
from tocsin_notifier.channels.email import EmailChannel
from tocsin_notifier.channels.log import LogChannel
from tocsin_notifier.channels.slack.card import Surroundings
from tocsin_notifier.channels.slack.channel import Routes, SlackChannel, Sources
from tocsin_notifier.channels.slack.web import Web
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.hooks import Hook, HookChannel
from tocsin_notifier.ports import Message
from tocsin_notifier.rules.options import EmailOptions
from tocsin_notifier.settings import Settings
from tocsin_testing import build
from tocsin_testing.fakes import FakeChannel, FakeClock, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeApprovals
from tocsin_testing.slack.fakes import FakeCards
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import TOKEN


async def logged(message):
    with capture_logs() as lines:
        await LogChannel().send(message)
    return str(lines)


def posted(made):
    """How to see what is posted by a channel that is made from a hook."""

    async def see(message):
        requests = []

        def answer(request):
            requests.append(request)
            return httpx.Response(200)

        address = SecretStr("https://chat.example/hook")
        transport = httpx.MockTransport(answer)
        await made(Hook("here", address, "there", transport=transport)).send(message)
        return str([json.loads(request.content) for request in requests]).replace("\\", "")

    return see


def written(chat):
    return posted(lambda hook: HookChannel("here", hook, chat.write))


async def mailed(message):
    mails = []

    class Kept(Mailbox):
        def handle_message(self, message):
            mails.append(message.get_payload(0).get_payload(decode=True).decode())

    (port,) = free_ports(1)
    server = Controller(Kept(), hostname="127.0.0.1", port=port)
    server.start()
    try:
        given = {"name": "mail", "type": "email", "server": "127.0.0.1", "port": port}
        given |= {"security": "none", "sender": "a@example.com", "recipients": ["b@example.com"]}
        await EmailChannel(EmailOptions.model_validate(given)).send(message)
    finally:
        server.stop()
    return str(mails)


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
SHOWN = {
    "log": logged,
    "webhook": posted(lambda hook: WebhookChannel("here", hook)),
    "slack": edited,
    "teams": written(teams),
    "discord": written(discord),
    "mattermost": written(mattermost),
    "google_chat": written(google_chat),
    "email": mailed,
}
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


@pytest.mark.parametrize("name", CHANNELS)
def test_every_channel_can_be_asked_for(name, monkeypatch):
    monkeypatch.setenv("HERE", "https://chat.example/hook")
    described = {"name": "here", "type": name, "url": {"env": "HERE"}}
    if name == "email":
        described = {"name": "here", "type": name, "server": "mail.example.com"}
        described |= {"sender": "a@example.com", "recipients": ["b@example.com"]}
    own = name in ("log", "slack")
    settings = Settings.model_validate(
        {"notify_channels": [name]}
        if own
        else {"notify_channels": ["here"], "notify": {"channels": [described]}}
    )
    (channel,) = channels.load(settings, FakeChannel("slack"))
    assert channel.name == (name if own else "here")


def test_a_channel_that_does_not_exist_stops_the_service_with_the_names_of_those_that_do():
    with pytest.raises(PermanentError, match="no 'pigeon'; known: log"):
        channels.load(Settings(notify_channels=("pigeon",)))
