"""Slack on a real store: one message per incident that ends true, and clicks that decide once."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from tocsin_contracts import (
    ApprovalDenied,
    ApprovalGranted,
    ApprovalRecorded,
    Novelty,
    Risk,
    RunState,
)
from tocsin_contracts.outcomes import Rateable, Rated
from tocsin_contracts.views import ApprovalState
from tocsin_kit import approvals as kit
from tocsin_kit import store
from tocsin_kit.approvals import Approvals
from tocsin_kit.cards import Cards
from tocsin_kit.chats import Chats
from tocsin_kit.errors import TransientError
from tocsin_kit.moves import ANY
from tocsin_kit.outbox import Outbox
from tocsin_kit.quorum import LOGIN, ONE, Quorum
from tocsin_kit.run_view import RunReader
from tocsin_kit.runs import RunStore
from tocsin_kit.tally import Tallies
from tocsin_notifier import messages
from tocsin_notifier.channels.slack import endpoint
from tocsin_notifier.channels.slack.card import APPROVE, REJECT, REVIEW, Surroundings
from tocsin_notifier.channels.slack.channel import Routes, SlackChannel, Sources
from tocsin_notifier.channels.slack.clicks import REASON, Clicks, People
from tocsin_notifier.channels.slack.endpoint import Endpoint
from tocsin_notifier.channels.slack.questions import Questions
from tocsin_notifier.channels.slack.rating import NOTHING, STRANGER, THANKS, Ratings
from tocsin_notifier.channels.slack.voice import Voice
from tocsin_notifier.channels.slack.web import Web
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeClock, FakePublisher, outage
from tocsin_testing.slack.clicking import buttons, clicked, form, sent, signed
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import APP, CHANNEL, SECRET, TOKEN, Fault, rate_limited

pytestmark = pytest.mark.servers

PLAN = build.plan()
PEOPLE = {"T0001:U0001": "ana", "T0001:U0002": "bo", "T0001:U0003": "eve"}
CONSOLE = "https://tocsin.example"


class Stage:
    """The Slack part on a real store, a fake Slack, and runs that a test moves."""

    def __init__(self, client, slack):
        self.slack, self.world = slack, slack.world
        self.redis, self.clock, self.bus = client, FakeClock(), FakePublisher()
        self.runs = RunStore(client, clock=self.clock)
        outbox = Outbox(client, kit.OWNER, kit.read, self.bus.publish, self.clock)
        self.approvals = Approvals(client, outbox, self.clock)
        self.cards = Cards(client)
        self.web = Web(TOKEN, slack.api_url)
        self.around = Surroundings(CONSOLE)
        self.routes = Routes(CHANNEL, {"payments": "C0PAY"})
        reader = RunReader(client)
        self.sources = Sources(reader, self.approvals, Tallies(client))
        voice = Voice(self.web, slack.url)
        people = People(PEOPLE, APP)
        ratings = Ratings(reader, self.bus, self.clock)
        self.clicks = Clicks(reader, self.approvals, voice, people, self.around, ratings=ratings)
        chats = Chats(client, clock=self.clock)
        self.questions = Questions(self.web, self.cards, chats, self.bus, people, clock=self.clock)
        app = endpoint.build(Endpoint(SECRET, self.clicks, self.questions, self.clock))
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://notifier"
        )

    @property
    def channel(self):
        """A channel that remembers nothing, as after a restart."""
        return SlackChannel(
            self.web,
            self.cards,
            self.sources,
            routes=self.routes,
            around=self.around,
            clock=self.clock,
        )

    async def did(self, *events):
        """Keep what a service concluded about a run."""
        self.clock.advance(1)
        cause = build.alert_accepted(run_id=events[0].run_id, id=f"cause-{self.clock.now()}")
        begin = await self.runs.begin(cause, "action", ANY)
        await self.runs.commit(begin.lease, ANY, cause, events)

    async def tell(self, event):
        told = messages.render(event)
        await self.channel.send(replace(told, event=event))

    async def happened(self, *events):
        """Let each happen and be told."""
        for event in events:
            await self.did(event)
            await self.tell(event)

    async def ask(self, plan=PLAN, run_id=RUN, quorum=ONE, **changes):
        """Put a plan to people, and show it."""
        due = self.clock.now() + timedelta(hours=4)
        await self.approvals.open(run_id, plan.plan_hash, ("ana", "bo"), due, quorum)
        asked = build.approval_requested(run_id=run_id, plan=plan, expires_at=due, **changes)
        await self.happened(asked)
        return self.card

    async def post(self, payload, **headers):
        """Send an interaction as Slack does; return the status once the work is done."""
        body = form(payload)
        return await self.http.post(
            endpoint.PATH, content=body, headers=signed(body, self.clock.now()) | headers
        )

    async def click(self, action, by="U0001", **changes):
        changes = {"response_url": self.slack.response_url} | changes
        answer = await self.post(clicked(self.card, action, by, **changes))
        await self.clicks.idle()
        return answer

    async def reject(self, reason, user="U0001"):
        """Click, fill the window in and send it."""
        await self.click(REJECT, user)
        answer = await self.post(sent(self.world.windows[-1], reason, user))
        await self.clicks.idle()
        return answer

    async def decided(self):
        """Show what was decided, as the event about it does."""
        for event in self.bus.published:
            await self.tell(event)

    @property
    def card(self):
        (card,) = self.world.parents
        return card

    @property
    def heard(self):
        return [whisper["text"] for whisper in self.world.whispers]


@pytest.fixture
async def stage(redis_url):
    client = store.connect(redis_url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.aclose)
        slack = await stack.enter_async_context(serving())
        stage = Stage(client, slack)
        await stack.enter_async_context(stage.clicks)
        await stack.enter_async_context(stage.http)
        yield stage


def words(message):
    return str(message["blocks"])


async def test_an_incident_is_one_message_from_its_start_to_its_end(stage):
    await stage.happened(build.incident_opened(team="payments"))
    assert "Investigating" in words(stage.card)
    assert stage.card["channel"] == "C0PAY"
    await stage.ask()
    assert "Waiting for a decision" in words(stage.card)
    assert set(buttons(stage.card)) == {APPROVE, REJECT, REVIEW}
    opened = build.pull_request_opened(url="https://git.example/7")
    ended = build.run_finished(outcome=RunState.RESOLVED, sentence="The alert cleared.")
    await stage.happened(opened)
    await stage.happened(ended)
    assert "*Resolved*\\nThe alert cleared." in words(stage.card)
    assert "<https://git.example/7|" in words(stage.card)
    assert set(buttons(stage.card)) == {REVIEW}
    assert stage.card["unfurl_links"] is stage.card["unfurl_media"] is False
    loud = [reply["reply_broadcast"] for reply in stage.world.replies]
    assert loud == [True, False, True]
    assert {reply["thread_ts"] for reply in stage.world.replies} == {stage.card["ts"]}


async def test_a_message_told_twice_is_shown_once(stage):
    opened = build.incident_opened()
    await stage.happened(opened)
    await stage.ask()
    calls = len(stage.world.calls)
    await stage.tell(opened)
    await stage.tell(build.approval_requested())
    assert len(stage.world.calls) == calls
    assert len(stage.world.replies) == 1


async def test_an_alert_that_fires_again_edits_its_message_and_says_so_in_the_channel(stage):
    await stage.happened(build.incident_opened(), build.run_finished())
    for number in (2, 3):
        await stage.happened(build.incident_opened(run_id=f"r{number}"))
    assert "run 3 about this" in words(stage.card)
    assert "Investigating" in words(stage.card)
    again = stage.world.replies[-1]
    assert "Fires again: run 3" in again["text"]
    assert again["reply_broadcast"] is True


async def test_late_news_of_an_older_run_does_not_hide_the_newer_one(stage):
    ended = build.run_finished()
    await stage.happened(build.incident_opened())
    await stage.did(ended)
    await stage.happened(build.incident_opened(run_id="r2"))
    await stage.tell(ended)
    assert "Investigating" in words(stage.card)
    assert "Run ended: escalated" in stage.world.replies[-1]["text"]


async def test_an_alert_that_joins_is_counted_in_the_thread(stage):
    await stage.happened(build.incident_opened())
    nothing = build.alert_repeated()
    again = build.alert_repeated(id="a2", occurrences=7, episodes=2, novelty=Novelty.EPISODE)
    for event in (nothing, again, again):
        await stage.did(event)
        await stage.channel.follow(event)
    (reply,) = stage.world.replies
    assert "Fires again: KubeContainerOOMKilled" in reply["text"]
    assert "7 deliveries, 2 episodes so far." in reply["text"]


async def test_p7_a_plan_that_went_stale_loses_its_buttons(stage):
    await stage.ask()
    stale = build.plan_stale()
    await stage.did(stale)
    await stage.channel.follow(stale)
    assert "a change is being checked" in words(stage.card)
    assert set(buttons(stage.card)) == {REVIEW}


async def test_an_event_about_a_run_that_nobody_sees_shows_nothing(stage):
    await stage.did(build.hypothesis_formed())
    await stage.channel.follow(build.hypothesis_formed())
    await stage.channel.follow(build.hypothesis_formed(run_id="unknown"))
    assert stage.world.calls == []


async def test_a_storm_is_told_by_itself_and_its_end_in_its_thread(stage):
    await stage.happened(build.storm_started(), build.storm_ended())
    assert "Storm: 101 new runs" in stage.card["text"]
    (digest,) = stage.world.replies
    assert "node n1: 300 runs" in digest["text"]
    assert digest["reply_broadcast"] is True


async def test_what_the_store_forgot_is_told_all_the_same(stage):
    await stage.tell(build.run_finished())
    await stage.tell(build.run_finished())
    assert "Nobody knows the cause." in stage.card["text"]


async def test_newest_wins_after_a_rate_limit_and_what_was_overtaken_is_skipped(stage):
    await stage.happened(build.incident_opened())
    stage.world.faults["chat.update"] = [rate_limited(7)]
    asked = build.approval_requested()
    await stage.approvals.open(RUN, PLAN.plan_hash, ("ana",), asked.expires_at)
    await stage.did(asked)
    with pytest.raises(TransientError, match="ratelimited") as refused:
        await stage.tell(asked)
    assert refused.value.retry_in == 7
    ended = build.run_finished(outcome=RunState.CANCELLED)
    await stage.did(ended)
    with pytest.raises(TransientError, match="has to wait") as waits:
        await stage.tell(ended)
    assert 6 < waits.value.retry_in <= 7
    assert len(stage.world.called("chat.update")) == 1
    stage.web = Web(TOKEN, stage.slack.api_url)
    await stage.tell(ended)
    await stage.tell(asked)
    assert "Cancelled" in words(stage.card)
    assert len(stage.world.called("chat.update")) == 2
    assert len(stage.world.replies) == 2


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_blocks_too_long", "invalid_arguments"])
async def test_p7_refused_blocks_become_plain_words_with_a_link(stage, error):
    stage.world.faults["chat.postMessage"] = [Fault(error)]
    await stage.ask()
    assert stage.card["blocks"] == []
    assert f"<{CONSOLE}/runs/{RUN}|" in stage.card["text"]
    assert "Waiting for a decision" in stage.card["text"]


async def test_d12_9000_characters_of_markup_are_delivered_with_their_blocks(stage):
    much = "<&>" * 3000
    plan = build.plan(title=much, diff=much, effects=(much,))
    finding = build.finding(summary=much, because=much)
    alert = build.alert(title=much, summary=much)
    hypothesis = build.hypothesis(finding=finding)
    await stage.ask(plan, hypothesis=hypothesis, alert=alert)
    assert "&lt;&amp;&gt;" in words(stage.card)
    assert set(buttons(stage.card)) == {APPROVE, REJECT, REVIEW}
    assert f"{CONSOLE}/runs/{RUN}" in stage.card["text"]
    assert len(stage.world.called("chat.postMessage")) == 2
    await stage.click(APPROVE)
    assert len(stage.bus.published) == 1


@pytest.mark.parametrize("error", ["channel_not_found", "invalid_auth", "is_archived"])
async def test_p8_what_an_operator_has_to_mend_comes_once_it_is_mended(stage, error):
    stage.world.faults["chat.postMessage"] = [Fault(error)]
    opened = build.incident_opened()
    await stage.did(opened)
    with pytest.raises(TransientError, match=error):
        await stage.tell(opened)
    await stage.tell(opened)
    assert "Investigating" in words(stage.card)


async def test_a_message_that_somebody_deleted_is_posted_anew(stage):
    await stage.happened(build.incident_opened())
    first = stage.world.messages.pop()
    await stage.ask()
    assert stage.card["ts"] != first["ts"]
    assert set(buttons(stage.card)) == {APPROVE, REJECT, REVIEW}


async def test_a_reply_to_a_message_that_somebody_deleted_comes_below_a_new_one(stage):
    await stage.ask()
    stage.world.messages.clear()
    granted = build.approval_granted()
    stage.world.faults["chat.postMessage"] = [Fault("thread_not_found")]
    with pytest.raises(TransientError, match="thread_not_found"):
        await stage.tell(granted)
    await stage.tell(granted)
    assert set(buttons(stage.card)) == {APPROVE, REJECT, REVIEW}
    (reply,) = stage.world.replies
    assert reply["thread_ts"] == stage.card["ts"]
    await stage.click(APPROVE)
    assert len(stage.bus.published) == 1


class Dies(Cards):
    """A record that a crash keeps from being written, once for each of the names."""

    def __init__(self, client, *names):
        super().__init__(client)
        self._names = list(names)

    async def posted(self, subject, name, ts):
        if name in self._names:
            self._names.remove(name)
            raise outage("died between post and store")
        await super().posted(subject, name, ts)


@pytest.mark.parametrize("lost", [True, False])
async def test_p5_a_crash_between_post_and_store_shows_one_message_and_one_reply(stage, lost):
    asked = build.approval_requested()
    if lost:
        stage.world.faults["chat.postMessage"] = [Fault(lost=True)]
    stage.cards = Dies(stage.redis, "card", asked.id)
    for _ in range(3):
        try:
            await stage.ask()
        except TransientError:
            continue
    assert len(stage.world.parents) == 1
    assert len(stage.world.replies) == 1
    await stage.happened(build.run_finished())
    assert "A person has to take over" in words(stage.card)


async def test_an_app_that_may_not_read_shows_a_message_rather_than_none(stage):
    stage.cards = Dies(stage.redis, "card")
    opened = build.incident_opened()
    await stage.did(opened)
    with pytest.raises(TransientError, match="died"):
        await stage.tell(opened)
    stage.world.faults["conversations.history"] = [Fault("missing_scope")]
    await stage.tell(opened)
    assert len(stage.world.parents) == 2


async def test_two_workers_never_show_an_incident_twice(stage):
    first, second = build.incident_opened(), build.incident_opened(run_id="r2")
    await stage.did(first)
    await stage.did(second)
    told = await asyncio.gather(stage.tell(first), stage.tell(second), return_exceptions=True)
    assert [type(one) for one in told if one] == [TransientError]
    for event in (first, second):
        await stage.tell(event)
    assert len(stage.world.parents) == 1


async def test_a_yes_is_decided_once_and_the_message_says_who_when_and_what(stage):
    await stage.ask()
    answer = await stage.click(APPROVE)
    assert (answer.status_code, answer.content) == (200, b"")
    (granted,) = stage.bus.published
    assert isinstance(granted, ApprovalGranted)
    assert (granted.decision.by, granted.decision.surface) == ("ana", "slack")
    assert granted.decision.plan_hash == PLAN.plan_hash
    await stage.decided()
    at = f"{granted.decision.decided_at:%H:%M:%S}"
    assert f"*Approved by ana {at} UTC · plan {PLAN.short_hash}*" in words(stage.card)
    assert set(buttons(stage.card)) == {REVIEW}
    assert stage.heard == []


async def test_a_no_asks_for_its_reason_and_shows_it(stage):
    await stage.ask()
    answer = await stage.reject("not before the release")
    assert answer.status_code == 200
    (denied,) = stage.bus.published
    assert isinstance(denied, ApprovalDenied)
    assert denied.decision.reason == "not before the release"
    await stage.decided()
    assert "Rejected by ana" in words(stage.card)
    assert "not before the release" in words(stage.card)


@pytest.mark.parametrize("reason", [None, "", "  \n"])
async def test_a_no_without_a_reason_is_asked_again_at_once(stage, reason):
    await stage.ask()
    answer = await stage.reject(reason)
    assert answer.json()["response_action"] == "errors"
    assert set(answer.json()["errors"]) == {REASON}
    assert stage.bus.published == []


async def test_d2_of_50_parallel_clicks_one_decides_and_49_hear_so(stage):
    card = await stage.ask()
    await stage.click(REJECT, response_url="")
    (window,) = stage.world.windows
    yes = clicked(card, APPROVE, response_url=stage.slack.response_url)
    payloads = [yes, sent(window, "no", "U0002")] * 25
    answers = await asyncio.gather(*(stage.post(payload) for payload in payloads))
    await stage.clicks.idle()
    assert {answer.status_code for answer in answers} == {200}
    assert len(stage.bus.published) == 1
    assert len(stage.heard) == 49
    assert len({text for text in stage.heard if text.startswith("Already ")}) == 1
    approval = await stage.approvals.get(RUN, PLAN.plan_hash)
    assert approval.state in (ApprovalState.GRANTED, ApprovalState.DENIED)


async def test_d3_the_same_click_delivered_three_times_decides_once(stage):
    card = await stage.ask()
    payload = clicked(card, APPROVE, response_url=stage.slack.response_url)
    for number in "123":
        answer = await stage.post(payload, **{"x-slack-retry-num": number})
        assert answer.status_code == 200
    await stage.clicks.idle()
    assert len(stage.bus.published) == 1


async def test_an_answer_does_not_wait_for_the_decision(stage):
    card = await stage.ask()
    stage.approvals.redeem = None  # would break the request if it were part of it
    answer = await stage.post(clicked(card, REVIEW))
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("user", "changes", "said"),
    [
        ("U0009", {}, "U0009 is nobody"),
        ("U0003", {}, "You may not decide this. Ask one of: ana, bo."),
        ("U0001", {"team": {"id": "T9999"}}, "T9999:U0001 is nobody"),
        ("U0001", {"team": None}, ":U0001 is nobody"),
        ("U0001", {"user": {"id": "U0001", "team_id": "T9999"}}, "is nobody"),
        ("U0001", {"api_app_id": "A9999"}, "is nobody"),
    ],
)
@pytest.mark.parametrize("action", [APPROVE, REJECT])
async def test_who_may_not_decide_hears_why_and_who_can(stage, user, changes, said, action):
    await stage.ask()
    await stage.click(action, user, **changes)
    (heard,) = stage.heard
    assert said in heard
    assert "ana, bo" in heard
    assert stage.bus.published == []
    assert stage.world.windows == []
    await stage.click(APPROVE)
    assert len(stage.bus.published) == 1


async def test_an_expired_approval_is_said_to_be(stage):
    await stage.ask()
    stage.clock.advance(5 * 3600)
    await stage.click(APPROVE)
    assert "The approval has expired" in stage.heard[-1]
    await stage.approvals.expire(RUN, PLAN.plan_hash)
    await stage.click(APPROVE)
    await stage.click(REJECT)
    assert ["The approval has expired" in text for text in stage.heard] == [True] * 3
    assert stage.world.windows == []
    assert stage.bus.published == []


async def test_a_click_on_a_plan_that_was_replaced_says_which_one_waits(stage):
    old = dict(await stage.ask())
    stage.clock.advance(1)
    newer = build.plan(title="Another")
    await stage.ask(newer, id="asked-again", at=stage.clock.now())
    await stage.post(clicked(old, APPROVE, response_url=stage.slack.response_url))
    await stage.clicks.idle()
    assert f"replaced by plan {newer.short_hash}" in stage.heard[-1]
    assert stage.bus.published == []
    await stage.click(APPROVE)
    assert stage.bus.published[0].decision.plan_hash == newer.plan_hash


async def test_buttons_hold_until_those_that_replace_them_are_shown(stage):
    old = dict(await stage.ask())
    stage.world.faults["chat.update"] = [Fault("fatal_error", 500)]
    again = build.approval_requested(freeze="until Monday", at=NOW + timedelta(minutes=1))
    await stage.did(again)
    with pytest.raises(TransientError):
        await stage.tell(again)
    await stage.tell(again)
    url = stage.slack.response_url
    await stage.post(clicked(old, APPROVE, response_url=url))
    await stage.clicks.idle()
    assert "This button was replaced" in stage.heard[-1]
    await stage.click(APPROVE)
    assert len(stage.bus.published) == 1


async def test_a_button_works_while_its_successor_is_not_shown(stage):
    await stage.ask()
    stage.world.faults["chat.update"] = [Fault("fatal_error", 500)]
    again = build.approval_requested(freeze="until Monday", at=NOW + timedelta(minutes=1))
    await stage.did(again)
    with pytest.raises(TransientError):
        await stage.tell(again)
    await stage.click(APPROVE)
    assert len(stage.bus.published) == 1


async def test_p3_a_change_of_high_risk_is_approved_in_the_console_only(stage):
    plan = build.plan(risk=Risk.HIGH)
    card = await stage.ask(plan, quorum=Quorum(people=2, alone=LOGIN, refused=("slack",)))
    found = buttons(card)
    assert set(found) == {REJECT, REVIEW}
    assert found[REVIEW]["text"]["text"] == "Review in console"
    assert found[REVIEW]["url"] == f"{CONSOLE}/runs/{RUN}"
    forged = clicked(card, REJECT, response_url=stage.slack.response_url)
    forged["actions"][0]["action_id"] = APPROVE
    await stage.post(forged)
    await stage.clicks.idle()
    assert "a click in Slack does not approve it" in stage.heard[-1]
    assert stage.bus.published == []


async def test_a_yes_that_two_people_have_to_say_is_counted_in_the_message_and_asked_on(stage):
    await stage.ask(quorum=Quorum(people=2))
    await stage.click(APPROVE)
    (recorded,) = stage.bus.published
    assert isinstance(recorded, ApprovalRecorded)
    assert (recorded.given, recorded.required, recorded.decision.by) == (1, 2, "ana")
    await stage.happened(recorded)
    assert "1 of 2 said yes: ana" in words(stage.card)
    await stage.click(APPROVE)
    assert "You have said yes already. 1 of 2 people have. Ask one of: bo." in stage.heard[-1]
    await stage.click(APPROVE, by="U0002")
    assert [type(one) for one in stage.bus.published] == [ApprovalRecorded, ApprovalGranted]


async def test_what_a_run_came_to_is_rated_below_its_message_once_it_has_ended(stage):
    await stage.did(build.hypothesis_formed(), build.plan_drafted())
    await stage.ask()
    assert not [name for name in buttons(stage.card) if "rate" in name]
    await stage.happened(build.run_finished(outcome=RunState.REJECTED, sentence="Nobody wants it."))
    rated = [name for name in buttons(stage.card) if "rate" in name]
    assert rated == [
        f"tocsin-rate-{about}-{how}" for about in Rateable for how in ("useful", "wrong")
    ]
    for name in rated:
        stage.clock.advance(1)
        await stage.click(name, "U0002")
    told = [(one.run_id, one.by, one.surface, one.about, one.useful) for one in stage.bus.published]
    assert told == [
        (RUN, "bo", "slack", about, useful) for about in Rateable for useful in (True, False)
    ]
    assert {type(one) for one in stage.bus.published} == {Rated}
    assert {one.producer for one in stage.bus.published} == {"notifier"}
    assert stage.heard[-4:] == [THANKS] * 4


async def test_p3_strangers_rate_nothing_and_nobody_rates_what_there_is_not(stage):
    await stage.did(build.hypothesis_formed())
    await stage.happened(build.run_finished(outcome=RunState.ESCALATED, sentence="Look at it."))
    useful = f"tocsin-rate-{Rateable.HYPOTHESIS}-useful"
    payload = clicked(stage.card, useful, response_url=stage.slack.response_url)
    wrong = {"action_id": f"tocsin-rate-{Rateable.FIX}-useful"}
    odd = [{"value": "r9"}, {"value": "../x"}, {"value": ""}, {"action_id": f"{useful}x"}, wrong]
    for changes in odd:
        await stage.post(payload | {"actions": [payload["actions"][0] | changes]})
    await stage.post(payload | {"api_app_id": "A0OTHER"})
    await stage.click(useful, "U9999")
    await stage.clicks.idle()
    assert stage.bus.published == []
    assert sorted(set(stage.heard)) == sorted([NOTHING, STRANGER])


async def test_p3_no_event_and_no_record_holds_what_a_button_decides_with(stage):
    card = await stage.ask()
    value = buttons(card)[APPROVE]["value"]
    approval, nonce, seen = value.rsplit(".", 2)
    assert (approval, seen) == (f"{RUN}.{PLAN.short_hash}", PLAN.short_hash)
    kept = {}
    for key in await stage.redis.keys("*"):
        if await stage.redis.type(key) == "hash":
            kept[key] = await stage.redis.hgetall(key)
    assert nonce[8:] not in str(kept)


@pytest.mark.parametrize("value", ["", "x", "r1.0123456789ab.nonce.0123456789ab", "a.b.c.d"])
async def test_a_button_that_is_none_of_ours_decides_nothing(stage, value):
    card = await stage.ask()
    payload = clicked(card, APPROVE, response_url=stage.slack.response_url)
    payload["actions"][0]["value"] = value
    await stage.post(payload)
    await stage.clicks.idle()
    assert "none of ours" in stage.heard[-1]
    assert stage.bus.published == []


async def test_a_wrong_nonce_decides_nothing(stage):
    card = await stage.ask()
    payload = clicked(card, APPROVE, response_url=stage.slack.response_url)
    value = payload["actions"][0]["value"]
    approval, nonce, seen = value.rsplit(".", 2)
    payload["actions"][0]["value"] = f"{approval}.{nonce[:8]}{'A' * 43}.{seen}"
    await stage.post(payload)
    await stage.clicks.idle()
    assert "This button was replaced" in stage.heard[-1]
    assert stage.bus.published == []


async def test_a_store_that_is_away_decides_nothing_and_says_so(stage):
    await stage.ask()

    async def away(**_):
        raise outage()

    stage.approvals.redeem = away
    await stage.click(APPROVE)
    assert "click again" in stage.heard[-1]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/actions/x",
        "https://hooks.slack.com.evil.example/x",
        "https://hooks.slack.com@evil.example/x",
        "file:///etc/passwd",
        "no address",
        "",
    ],
)
async def test_an_answer_goes_to_no_other_host_than_slacks(stage, url):
    await stage.ask()
    await stage.click(APPROVE, "U0009", response_url=url)
    (whisper,) = stage.world.whispers
    assert whisper["user"] == "U0009"
    assert stage.world.called("chat.postEphemeral") == [whisper]


async def test_what_was_taken_is_finished_before_the_service_stops(stage):
    card = await stage.ask()
    await stage.post(clicked(card, APPROVE))
    await stage.clicks.__aexit__(None, None, None)
    assert len(stage.bus.published) == 1
