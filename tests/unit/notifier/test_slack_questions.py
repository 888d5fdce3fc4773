"""Questions in the thread of a message of ours: asked once, by known people, answered there."""

import asyncio
import json
from contextlib import suppress

import httpx
import pytest

from tocsin_contracts.chat import ChatAnswered, ChatMode
from tocsin_kit.cards import Card
from tocsin_kit.chats import Asked
from tocsin_notifier.channels.slack import endpoint
from tocsin_notifier.channels.slack.clicks import People
from tocsin_notifier.channels.slack.endpoint import EVENTS, Endpoint
from tocsin_notifier.channels.slack.questions import BUSY, STRANGER, Questions
from tocsin_notifier.channels.slack.socket import Socket
from tocsin_notifier.channels.slack.web import Web
from tocsin_testing.fakes import FakeClock, FakePublisher
from tocsin_testing.slack.clicking import signed, written
from tocsin_testing.slack.fakes import FakeCards
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import APP, APP_TOKEN, CHANNEL, SECRET, TEAM, TOKEN

THREAD = "1700000001.000100"
WHY = "<@U0BOT> Why does it restart &amp; when?"


class Sessions:
    """Sessions that take every question, or none."""

    def __init__(self):
        self.owners, self.says = {}, Asked.OK

    async def open(self, session, owner):
        return self.owners.setdefault(session, owner) == owner

    async def ask(self, session, turn, by):
        del turn, by
        assert session in self.owners
        return self.says


class Stage:
    def __init__(self, slack):
        self.slack, self.clock, self.bus = slack, FakeClock(), FakePublisher()
        self.cards, self.sessions = FakeCards(), Sessions()
        self.cards.cards["incident"] = Card(channel=CHANNEL, ts=THREAD, run_id="r1")
        self.web = Web(TOKEN, slack.api_url)
        people = People({f"{TEAM}:U0001": "ana"}, APP)
        self.questions = Questions(
            self.web, self.cards, self.sessions, self.bus, people, clock=self.clock
        )

    async def hears(self, text=WHY, thread=THREAD, **changes):
        self.questions.take(json.dumps(written(text, thread, **changes)))
        await self.questions.idle()

    async def shows(self, words="It is its memory."):
        asked = self.bus.published[-1]
        answer = ChatAnswered(
            run_id=asked.run_id,
            turn=asked.turn,
            ending="answered",
            words=words,
            by=asked.by,
            surface=asked.surface,
            reply_to=asked.reply_to,
        )
        await self.questions.on_chat_answered(answer)


@pytest.fixture
async def stage():
    async with serving() as slack:
        stage = Stage(slack)
        async with stage.web:
            yield stage


async def test_a_question_goes_to_the_agents_and_is_answered_in_its_thread(stage):
    await stage.hears()
    (asked,) = stage.bus.published
    assert (asked.question, asked.by, asked.mode) == (
        "Why does it restart & when?",
        "ana",
        ChatMode.ASK,
    )
    assert asked.context.run == "r1"
    await stage.shows("Its memory <!channel> was halved.")
    (reply,) = stage.slack.world.replies
    assert (reply["thread_ts"], reply["channel"]) == (THREAD, CHANNEL)
    assert "&lt;!channel&gt;" in reply["text"]


async def test_what_slack_tells_twice_is_asked_and_answered_once(stage):
    await stage.hears()
    await stage.hears()
    await stage.hears(type="message")
    assert len(stage.bus.published) == 1
    await stage.shows()
    await stage.shows()
    assert len(stage.slack.world.replies) == 1


NOBODY = {
    "a message outside of a thread": {"thread": ""},
    "a thread of others": {"thread": "1700000002.000100"},
    "another channel": {"channel": "C0OTHER"},
    "a bot, such as ourselves": {"bot_id": "B0001"},
    "a message that was changed": {"type": "message", "subtype": "message_changed"},
    "a guest of another workspace": {"team": "T0009"},
    "a stranger in a thread": {"by": "U0666", "type": "message"},
    "nothing but a call": {"text": "<@U0BOT>"},
}


@pytest.mark.parametrize("changes", NOBODY.values(), ids=NOBODY)
async def test_nothing_else_is_a_question(stage, changes):
    await stage.hears(**changes)
    assert stage.bus.published == []
    assert stage.slack.world.whispers == []


async def test_a_stranger_who_calls_the_app_is_told_why_nothing_comes(stage):
    await stage.hears(by="U0666")
    (whisper,) = stage.slack.world.whispers
    assert (whisper["text"], whisper["user"]) == (STRANGER, "U0666")
    assert stage.bus.published == []


async def test_who_still_waits_for_an_answer_is_told_so(stage):
    stage.sessions.says = Asked.BUSY
    await stage.hears()
    assert [one["text"] for one in stage.slack.world.whispers] == [BUSY]


async def test_every_person_has_a_session_of_their_own_in_a_thread(stage):
    stage.questions._people = People({f"{TEAM}:U0001": "ana", f"{TEAM}:U0002": "bo"}, APP)
    await stage.hears()
    await stage.hears(by="U0002", ts="1700000009.000200")
    await stage.hears(ts="1700000009.000300")
    one, other, again = (asked.run_id for asked in stage.bus.published)
    assert one == again != other


async def test_an_answer_of_another_surface_is_not_shown(stage):
    await stage.hears()
    asked = stage.bus.published[0]
    fields = {"run_id": "c1", "turn": "t", "ending": "answered", "words": "x", "by": "ana"}
    await stage.questions.on_chat_answered(ChatAnswered(**fields, surface="gateway"))
    assert asked.surface == "slack"
    assert stage.slack.world.replies == []


async def test_events_by_http_are_signed_and_the_challenge_is_said_again(stage):
    app = endpoint.build(Endpoint(SECRET, None, stage.questions, stage.clock))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://notifier") as http:
        for told, status, said in (
            ({"type": "url_verification", "challenge": "abc"}, 200, "abc"),
            (written(WHY, THREAD), 200, ""),
            ({"no": "event"}, 400, "fault"),
        ):
            body = json.dumps(told).encode()
            headers = signed(body, stage.clock.now())
            answer = await http.post(EVENTS, content=body, headers=headers)
            assert answer.status_code == status
            assert said in answer.text
        bad = await http.post(EVENTS, content=b"{}", headers=signed(b"other", stage.clock.now()))
        assert bad.status_code == 401
    await stage.questions.idle()
    assert len(stage.bus.published) == 1


async def test_events_come_over_the_socket_too(stage):
    socket = Socket(APP_TOKEN, stage.web, None, stage.questions, look_seconds=0.02)
    task = asyncio.create_task(socket.listen())
    try:
        acked = await stage.slack.send(written(WHY, THREAD), kind="events_api")
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    await stage.questions.idle()
    assert acked["envelope_id"] == "e1"
    assert len(stage.bus.published) == 1
