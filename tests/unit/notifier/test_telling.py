"""The notifier's graph: every channel shows a message once, whatever fails in between."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_contracts import RunState, Severity
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.graphs import Subgraph
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind
from tocsin_notifier import graph
from tocsin_notifier.addressing import Addressing
from tocsin_notifier.handlers import Handlers
from tocsin_notifier.nodes import Nodes
from tocsin_notifier.rules.quiet import Quiet
from tocsin_notifier.rules.routes import Route
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeChannel, FakeClock, FakeNotices, FakeRuns, outage
from tocsin_testing.gate import FakeTimers

EVENT = build.run_finished()
NIGHT = {
    "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    "start": "22:00",
    "end": "07:00",
    "zone": "UTC",
}


class Notifier:
    """The handlers, with fake channels and a store that can be lost."""

    def __init__(self, *channels, followers=(), usual=None, routes=(), quiet=None, url=""):
        self.channels = channels
        self.followers = followers
        self.usual = [channel.name for channel in channels] if usual is None else usual
        self.routes = routes
        self.quiet = quiet
        self.url = url
        self.clock = FakeClock()
        self.runs = FakeRuns()
        self.timers = FakeTimers()
        self.notices = FakeNotices()
        self.saver = InMemorySaver()

    @property
    def handlers(self):
        addressing = Addressing(self.usual, self.clock, self.routes, self.quiet)
        nodes = Nodes(
            self.channels,
            addressing,
            runs=self.runs,
            notices=self.notices,
            timers=self.timers,
            public_url=self.url,
        )
        steps = graph.steps(len(self.channels))
        telling = Subgraph("notifier", graph.build(nodes), self.saver, steps)
        return Handlers(telling, self.runs, self.notices, self.followers)

    async def tell(self, event=EVENT):
        await self.handlers.tell(event)

    def knows(self, *facts):
        self.runs.runs[RUN] = build.run(*facts)

    async def wake(self):
        for timer in self.timers.set:
            await self.handlers.wake(timer)

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


async def test_twenty_channels_are_all_told():
    notifier = Notifier(*[FakeChannel(f"team-{number}") for number in range(20)])
    await notifier.tell()
    assert notifier.shown == [[EVENT.id]] * 20


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


@pytest.mark.parametrize(
    ("url", "link"),
    [("", ""), ("https://tocsin.example.com/", f"https://tocsin.example.com/runs/{RUN}")],
)
async def test_a_message_links_to_the_run_where_the_console_is_reached(url, link):
    notifier = Notifier(FakeChannel("log"), url=url)
    await notifier.tell()
    assert notifier.channels[0].sent[0].link == link


async def test_who_heard_how_a_run_began_hears_how_it_ended():
    loud = Route(severity="critical", to="mail")
    rest = Route(severity="warning", to="chat")
    notifier = Notifier(FakeChannel("mail"), FakeChannel("chat"), usual=[], routes=[loud, rest])
    opened = build.incident_opened(alert=build.alert(severity=Severity.WARNING))
    await notifier.tell(opened)
    worse = build.alert_repeated(alert=build.alert(severity=Severity.CRITICAL))
    notifier.knows(opened, worse)
    await notifier.tell(EVENT)
    assert notifier.shown == [[EVENT.id], [opened.id, EVENT.id]]


def at_night(**changes):
    """A notifier at 23:00 in its quiet hours, on a weekday."""
    notifier = Notifier(
        *[FakeChannel(name) for name in ("log", "chat")],
        quiet=Quiet.model_validate({"hours": [NIGHT]} | changes),
    )
    notifier.clock.advance((23 - NOW.hour) * 3600)
    return notifier


def later(event, minutes):
    return event.model_copy(update={"at": NOW.replace(minute=minutes)})


WARNING = build.alert(severity=Severity.WARNING)
OPENED = build.incident_opened(alert=WARNING)
ENDED = later(EVENT, 30)


async def test_what_can_wait_is_told_when_quiet_hours_end():
    notifier = at_night()
    await notifier.tell(OPENED)
    assert notifier.shown == [[OPENED.id], []]
    (timer,) = notifier.timers.set
    morning = NOW.replace(day=NOW.day + 1, hour=7)
    assert timer == Timer(kind=TimerKind.QUIET_END, run_id=RUN, due_at=morning)
    notifier.knows(OPENED)
    await notifier.wake()
    assert notifier.shown == [[OPENED.id], [OPENED.id]]


async def test_of_several_held_messages_the_newest_is_told_once():
    notifier = at_night()
    for event in (OPENED, ENDED):
        notifier.knows(OPENED)
        await notifier.tell(event)
    assert len(notifier.timers.set) == 1
    notifier.knows(OPENED, ENDED)
    await notifier.wake()
    await notifier.wake()
    assert notifier.shown == [[OPENED.id, ENDED.id], [ENDED.id]]


async def test_a_held_message_is_no_news_after_a_newer_one_was_told():
    notifier = at_night()
    await notifier.tell(OPENED)
    worse = later(build.alert_repeated(alert=build.alert(severity=Severity.CRITICAL)), 10)
    notifier.knows(OPENED, worse)
    await notifier.tell(ENDED)
    assert notifier.shown[1] == [ENDED.id]
    notifier.knows(OPENED, worse, ENDED)
    await notifier.wake()
    assert notifier.shown[1] == [ENDED.id]


@pytest.mark.parametrize("keeps_checkpoints", [True, False])
async def test_p5_what_was_held_is_told_once_though_its_channel_fails_at_first(keeps_checkpoints):
    notifier = at_night()
    await notifier.tell(OPENED)
    notifier.knows(OPENED)
    notifier.channels[1]._failures.append(outage())
    with pytest.raises(TransientError):
        await notifier.wake()
    if not keeps_checkpoints:
        notifier.saver = InMemorySaver()
    await notifier.wake()
    await notifier.wake()
    assert notifier.shown == [[OPENED.id], [OPENED.id]]


async def test_a_channel_that_refuses_what_was_held_says_so():
    notifier = at_night()
    await notifier.tell(OPENED)
    notifier.knows(OPENED)
    notifier.channels[1]._failures.append(PermanentError("the channel is gone"))
    with pytest.raises(PermanentError, match="the channel is gone"):
        await notifier.wake()


async def test_a_run_that_is_forgotten_meanwhile_is_no_failure():
    notifier = at_night()
    await notifier.tell(OPENED)
    await notifier.wake()
    assert notifier.shown == [[OPENED.id], []]


async def test_a_run_whose_beginning_is_held_is_heard_of_to_its_end():
    notifier = at_night()
    notifier.usual = []
    notifier.routes = [Route(events="opened", to="chat")]
    await notifier.tell(OPENED)
    notifier.clock.advance(9 * 3600)
    notifier.knows(OPENED)
    await notifier.tell(ENDED)
    assert notifier.shown == [[], [ENDED.id]]


async def test_a_held_message_still_changes_what_is_on_show():
    notifier = at_night()
    notifier.followers = [follower := Follower("chat")]
    await notifier.tell(OPENED)
    assert follower.followed == [OPENED.id]


async def test_p7_a_message_is_not_lost_between_its_holding_and_its_timer():
    notifier = at_night()
    notifier.timers.down = outage()
    with pytest.raises(TransientError):
        await notifier.tell(OPENED)
    notifier.timers.down = None
    await notifier.tell(OPENED)
    assert len(notifier.timers.set) == 1
