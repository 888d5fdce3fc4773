"""The Slack part, put together; imported only where a token of Slack's is set."""

from tocsin_kit import approvals
from tocsin_kit.cards import Cards
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.outbox import Outbox
from tocsin_kit.parts import Parts
from tocsin_kit.tally import Tallies
from tocsin_notifier.channels.slack import endpoint
from tocsin_notifier.channels.slack.card import Surroundings
from tocsin_notifier.channels.slack.channel import Routes, SlackChannel, Sources
from tocsin_notifier.channels.slack.clicks import Clicks, People
from tocsin_notifier.channels.slack.endpoint import Endpoint
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
    channel = SlackChannel(
        web,
        Cards(parts.redis),
        Sources(parts.reader, records, Tallies(parts.redis)),
        routes=Routes(settings.slack_channel, settings.slack_routes),
        around=around,
        clock=timer,
    )
    people = People(settings.slack_approvers, settings.slack_app_id)
    voice = Voice(web, settings.slack_hooks_url)
    clicks = Clicks(parts.reader, records, voice, people, around)
    listening = [Socket(app_token.get_secret_value(), web, clicks).listen] if app_token else []
    return TwoWay(
        channel=channel,
        resources=[web, clicks],
        http=endpoint.build(Endpoint(secret.get_secret_value(), clicks, timer)) if secret else None,
        background=[*listening, lambda: outbox.keep_flushing(settings.republish_seconds)],
    )
