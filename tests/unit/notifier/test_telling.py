"""The notifier's graph: every channel shows a message once, whatever fails in between."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_contracts import RunState
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.graphs import Subgraph
from tocsin_notifier import graph
from tocsin_notifier.handlers import Handlers
from tocsin_notifier.nodes import Nodes
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeChannel, FakeNotices, outage

EVENT = build.run_finished()


class Notifier:
    """The handlers, with fake channels and a store that can be lost."""

    def __init__(self, *channels, followers=()):
        self.channels = channels
        self.followers = followers
        self.notices = FakeNotices()
        self.saver = InMemorySaver()

    async def tell(self, event=EVENT):
        nodes = Nodes(self.channels, self.notices)
        telling = Subgraph("notifier", graph.build(nodes), self.saver)
        await Handlers(telling, self.followers).tell(event)

    @property
    def shown(self):
        return [[message.id for message in channel.sent] for channel in self.channels]


async def test_a_message_goes_to_every_channel():
    notifier = Notifier(FakeChannel("log"), FakeChannel("webhook"))
    await notifier.tell()
    assert notifier.shown == [[EVENT.id], [EVENT.id]]
    assert notifier.notices.settled == {(RUN, EVENT.id, "log"), (RUN, EVENT.id, "webhook")}


@pytest.mark.parametrize("keeps_checkpoints", [True, False])
async def test_p5_a_channel_that_fails_does_not_repeat_the_other(keeps_checkpoints):
    notifier = Notifier(FakeChannel("log"), FakeChannel("webhook", TransientError("busy")))
    with pytest.raises(TransientError):
        await notifier.tell()
    assert notifier.shown == [[EVENT.id], []]
    if not keeps_checkpoints:
        notifier.saver = InMemorySaver()
    await notifier.tell()
    assert notifier.shown == [[EVENT.id], [EVENT.id]]


@pytest.mark.parametrize("keeps_checkpoints", [True, False])
async def test_p5_an_event_told_twice_is_shown_once(keeps_checkpoints):
    notifier = Notifier(FakeChannel("log"))
    await notifier.tell()
    if not keeps_checkpoints:
        notifier.saver = InMemorySaver()
    await notifier.tell()
    assert notifier.shown == [[EVENT.id]]


async def test_p7_every_event_of_a_run_is_shown():
    notifier = Notifier(FakeChannel("log"))
    asked, ended = build.approval_requested(), build.run_finished()
    for event in (asked, ended):
        await notifier.tell(event)
    assert notifier.shown == [[asked.id, ended.id]]


async def test_a_channel_that_gives_up_says_so():
    notifier = Notifier(FakeChannel("webhook", PermanentError("the channel is gone")))
    with pytest.raises(PermanentError, match="the channel is gone"):
        await notifier.tell()


async def test_p7_a_channel_that_gives_up_does_not_silence_the_next_one():
    gone = FakeChannel("webhook", PermanentError("the channel is gone"))
    notifier = Notifier(gone, FakeChannel("log"))
    with pytest.raises(PermanentError, match="the channel is gone"):
        await notifier.tell()
    assert notifier.shown == [[], [EVENT.id]]


async def test_an_event_that_needs_no_message_reaches_no_channel():
    notifier = Notifier(FakeChannel("log"))
    await notifier.tell(build.alert_repeated())
    assert notifier.shown == [[]]


async def test_p7_a_message_whose_showing_could_not_be_noted_is_settled_later():
    notifier = Notifier(FakeChannel("log"))
    notifier.notices.down = outage()
    with pytest.raises(TransientError):
        await notifier.tell()
    notifier.notices.down = None
    await notifier.tell()
    assert notifier.shown == [[EVENT.id]]
    assert notifier.notices.settled == {(RUN, EVENT.id, "log")}


async def test_a_notifier_without_channels_tells_nobody():
    await Notifier().tell()


@pytest.mark.parametrize("keeps_checkpoints", [True, False])
async def test_p8_a_channel_that_is_away_holds_no_other_back(keeps_checkpoints):
    away = FakeChannel("slack", *[TransientError("busy", retry_in=60)] * 4)
    notifier = Notifier(away, FakeChannel("log"), FakeChannel("webhook", outage()))
    with pytest.raises(TransientError) as late:
        await notifier.tell()
    assert notifier.shown == [[], [EVENT.id], []]
    assert late.value.retry_in < 60
    if not keeps_checkpoints:
        notifier.saver = InMemorySaver()
    with pytest.raises(TransientError, match="busy"):
        await notifier.tell()
    assert notifier.shown == [[], [EVENT.id], [EVENT.id]]
    await notifier.tell()
    assert notifier.shown == [[EVENT.id]] * 3


class Follower(FakeChannel):
    """A channel whose messages change after they were shown."""

    def __init__(self, name):
        super().__init__(name)
        self.followed = []

    async def follow(self, event):
        self.followed.append(event.id)


async def test_what_nobody_is_told_of_still_changes_what_is_on_show():
    follower = Follower("slack")
    notifier = Notifier(follower, followers=[follower])
    suppressed = build.run_finished(outcome=RunState.SUPPRESSED)
    await notifier.tell(suppressed)
    assert (follower.sent, follower.followed) == ([], [suppressed.id])
    await notifier.tell(build.approval_granted())
    assert follower.followed == [suppressed.id]
