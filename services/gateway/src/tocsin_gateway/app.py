"""Composition root: the only file that knows every part of the gateway."""

from collections.abc import Sequence

from tocsin_gateway import api, application, assembly
from tocsin_gateway.access import Access
from tocsin_gateway.console import site
from tocsin_gateway.console.desk import Desk
from tocsin_gateway.console.sessions import Sessions
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.settings import Settings
from tocsin_kit import approvals
from tocsin_kit.feed import Feed
from tocsin_kit.late_news import LateNews
from tocsin_kit.outbox import Outbox
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service
from tocsin_kit.status import Status
from tocsin_kit.tally import Tallies


def build(flags: Sequence[str] = ()) -> Service:
    """Wire the gateway from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=False)
    outbox = Outbox(parts.redis, approvals.OWNER, approvals.read, parts.bus.publish)
    access = Access(settings.api_tokens, settings.api_roles, default=settings.api_default_role)
    hub = Hub(Feed.of(parts.bus))
    tallies, news = Tallies(parts.redis), LateNews(parts.redis)
    records = approvals.Approvals(parts.redis, outbox)
    routes = api.Api(
        parts.reader,
        records,
        parts.runs,
        parts.bus,
        tallies=tallies,
        news=news,
    )
    console = site.console(
        routes,
        Desk(parts.reader, records, tallies, news),
        hub,
        Sessions(access, settings.session_hours),
        https=settings.public_url.startswith("https:"),
    )
    return Service(
        settings=settings,
        port=settings.gateway_port,
        parts=parts,
        http=site.beside(
            application.build(
                routes, hub, access, *assembly.areas(parts, Status(parts.redis, parts.bus))
            ),
            console,
        ),
        background=[lambda: outbox.keep_flushing(settings.republish_seconds), hub.run],
    )
