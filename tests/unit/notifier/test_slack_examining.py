"""What `tocsin doctor slack` says: token, channel, and a click that decides nothing."""

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
import uvicorn

from tocsin_contracts.doctor import Condition
from tocsin_kit.clock import SystemClock
from tocsin_kit.processes import LOOPBACK
from tocsin_notifier.channels.slack import endpoint, examining
from tocsin_notifier.channels.slack.card import Surroundings
from tocsin_notifier.channels.slack.clicks import Clicks, People
from tocsin_notifier.channels.slack.endpoint import Endpoint
from tocsin_notifier.settings import Settings
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import CHANNEL, SECRET, TOKEN, Fault, World

CLOCK = SystemClock()


@asynccontextmanager
async def notifier(secret=SECRET):
    """Serve the endpoint of clicks on loopback, with nothing behind it that could decide."""
    clicks = Clicks(None, None, None, People({}), Surroundings("", buttons=True), ratings=None)
    app = endpoint.build(Endpoint(secret, clicks, None, CLOCK))
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        listening.listen()
        config = uvicorn.Config(app, log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server._serve([listening]))
        try:
            yield f"http://{LOOPBACK}:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


async def test_a_signed_click_arrives_and_decides_nothing():
    async with notifier() as address:
        found = await examining.click(address, SECRET, CLOCK)
    assert (found.condition, found.do) == (Condition.OK, "")


async def test_a_notifier_with_another_secret_is_a_problem():
    async with notifier("another-secret") as address:
        found = await examining.click(address, SECRET, CLOCK)
    assert found.condition is Condition.PROBLEM
    assert "TOCSIN_SLACK_SIGNING_SECRET" in found.do


async def test_a_notifier_that_is_away_is_a_problem():
    found = await examining.click(f"http://{LOOPBACK}:9", SECRET, CLOCK)
    assert (found.condition, found.do) == (Condition.PROBLEM, "start the notifier")


async def examined(world, **settings):
    async with serving(world) as slack:
        usual = {
            "slack_bot_token": TOKEN,
            "slack_channel": CHANNEL,
            "slack_api_url": slack.api_url,
            "notify_channels": ("slack",),
            "slack_approvers": {"T1:U1": "ana"},
        }
        found = await examining.examine(Settings(**(usual | settings)), "http://none", CLOCK)
    return {one.thing: one for one in found}


async def test_a_token_with_its_scopes_in_its_channel_is_well():
    found = await examined(World())
    assert found["token"].condition is Condition.OK
    assert found[f"channel {CHANNEL}"].condition is Condition.OK
    assert found["click"].condition is Condition.WARNING, "there are no buttons"


@pytest.mark.parametrize(
    ("scopes", "condition"),
    [
        ("channels:history", Condition.PROBLEM),
        ("chat:write", Condition.WARNING),
        ("", Condition.UNKNOWN),
    ],
)
async def test_scopes_that_lack_are_told(scopes, condition):
    found = await examined(World(scopes=scopes))
    assert (found["token"].condition, bool(found["token"].do)) == (condition, True)


async def test_a_token_that_is_void_is_a_problem_and_not_shown():
    found = await examined(World(), slack_bot_token="xoxb-void-token")
    assert found["token"].condition is Condition.PROBLEM
    assert "void" not in found["token"].told


async def test_a_channel_without_the_app_is_a_problem():
    world = World()
    world.faults["conversations.history"] = [Fault("not_in_channel")]
    found = await examined(world)
    assert found[f"channel {CHANNEL}"].condition is Condition.PROBLEM
    assert "/invite" in found[f"channel {CHANNEL}"].do


async def test_a_slack_that_is_not_set_up_is_unknown():
    (found,) = await examining.examine(Settings(), "http://none", CLOCK)
    assert found.condition is Condition.UNKNOWN
