"""Composition root: the only file that knows every part of the gateway."""

from collections.abc import Sequence
from pathlib import Path

from tocsin_gateway import amendments, api, application, assembly, operating
from tocsin_gateway.access import Access
from tocsin_gateway.amendments import Amendments
from tocsin_gateway.assertions import Assertions
from tocsin_gateway.console import site
from tocsin_gateway.console.books import Books
from tocsin_gateway.console.desk import Desk
from tocsin_gateway.console.sessions import Sessions
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.proxies import Proxies
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
    sessions = Sessions(_access(settings), settings.session_hours, https=settings.https)
    feed = Feed.of(parts.bus)
    hub, books = Hub(feed), Books(feed)
    statuses, letters = Status(parts.redis, parts.bus), operating.letters_of(settings, parts)
    operators, outcomes = operating.operations_of(settings, parts), assembly.outcomes_of(parts)
    tallies, news = Tallies(parts.redis), LateNews(parts.redis)
    records = approvals.Approvals(parts.redis, outbox)
    amending = Amendments(parts.reader, records, parts.bus)
    routes = api.Api(parts.reader, records, parts.runs, parts.bus, tallies=tallies, news=news)
    console = site.console(
        routes,
        Desk(parts.reader, records, tallies, news),
        sessions,
        amendments=amending,
        hub=hub,
        books=books,
        statuses=statuses,
        letters=letters,
        operations=operators,
        outcomes=outcomes,
    )
    areas = [
        *assembly.areas(parts, statuses, outcomes),
        *operating.areas(routes, letters, operators),
        amendments.routes(amending),
    ]
    app = application.build(routes, hub, sessions.access, *areas, signed_in=sessions.signed_in)
    return Service(
        settings=settings,
        port=settings.gateway_port,
        parts=parts,
        http=site.beside(app, console, https=settings.https),
        background=[hub.run, books.run, *operating.upkeep(settings, parts, outbox, statuses)],
    )


def _access(settings: Settings) -> Access:
    signed = None
    if settings.proxy_jwt_header:
        signed = Assertions(
            settings.proxy_jwt_header,
            Path(settings.proxy_jwt_keys),
            audience=settings.proxy_jwt_audience,
            issuer=settings.proxy_jwt_issuer,
            user_claim=settings.proxy_user_claim,
            groups_claim=settings.proxy_groups_claim,
        )
    proxies = Proxies(
        settings.trusted_proxies, settings.proxy_user_header, settings.proxy_groups_header, signed
    )
    return Access(
        settings.api_tokens,
        settings.api_roles,
        default=settings.api_default_role,
        proxies=proxies,
        groups=settings.proxy_roles,
        public_url=settings.public_url,
    )
