"""The Slack part, put together; imported only where a token of Slack's is set."""

from tocsin_contracts.live import ChatMoved
from tocsin_kit import approvals
from tocsin_kit.cards import Cards
from tocsin_kit.chats import Chats
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.outbox import Outbox
from tocsin_kit.parts import Parts
from tocsin_kit.tally import Tallies
from tocsin_notifier.channels.slack import endpoint
from tocsin_notifier.channels.slack.card import Surroundings
from tocsin_notifier.channels.slack.channel import Routes, SlackChannel, Sources
from tocsin_notifier.channels.slack.clicks import Clicks, People
from tocsin_notifier.channels.slack.endpoint import Endpoint
from tocsin_notifier.channels.slack.questions import Questions
from tocsin_notifier.channels.slack.rating import Ratings
from tocsin_notifier.channels.slack.socket import Socket
from tocsin_notifier.channels.slack.voice import Voice
from tocsin_notifier.channels.slack.web import Web
from tocsin_notifier.ports import TwoWay
from tocsin_notifier.settings import Settings


def slack(settings: Settings, parts: Parts, clock: Clock | None = None) -> TwoWay:
    """Wire Slack from settings that hold its token."""
    token, secret = settings.slack_bot_token, settings.slack_signing_secret
    app_token, timer = settings.slack_app_token, clock or SystemClock()
    outbox = Outbox(parts.redis, approvals.OWNER, approvals.read, parts.bus.publish, timer)
    records = approvals.Approvals(parts.redis, outbox, timer)
    web = Web(token.get_secret_value() if token else "", settings.slack_api_url)
    around = Surroundings(settings.public_url, buttons=bool(secret or app_token))
    cards = Cards(parts.redis)
    channel = SlackChannel(
        web,
        cards,
        Sources(parts.reader, records, Tallies(parts.redis)),
        routes=Routes(settings.slack_channel, settings.slack_routes),
        around=around,
        clock=timer,
    )
    people = People(settings.slack_approvers, settings.slack_app_id)
    voice = Voice(web, settings.slack_hooks_url)
    ratings = Ratings(parts.reader, parts.bus, timer)
    clicks = Clicks(parts.reader, records, voice, people, around, ratings=ratings)
    questions = _questions(parts, web, cards, people, timer)
    socket = Socket(app_token.get_secret_value(), web, clicks, questions) if app_token else None
    listening = [socket.listen] if socket else []
    signed = Endpoint(secret.get_secret_value(), clicks, questions, timer) if secret else None
    return TwoWay(
        channel=channel,
        answered=questions.on_chat_answered,
        resources=[web, clicks, questions],
        http=endpoint.build(signed) if signed else None,
        background=[*listening, lambda: outbox.keep_flushing(settings.republish_seconds)],
    )


def _questions(parts: Parts, web: Web, cards: Cards, people: People, clock: Clock) -> Questions:
    """Return what takes questions in threads."""

    async def moved(session: str) -> None:
        await parts.bus.tell(ChatMoved(run_id=session, agent="chat"))

    chats = Chats(parts.redis, moved, clock)
    return Questions(web, cards, chats, parts.bus, people, clock=clock)
