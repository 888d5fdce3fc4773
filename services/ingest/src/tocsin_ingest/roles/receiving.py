"""The receiving part: webhooks in, nothing that an agent needs."""

import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from starlette.types import ASGIApp

from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.edge.subscriptions import Authority, Subscriptions
from tocsin_ingest.forge_api import ForgeApi
from tocsin_ingest.marks import Marks
from tocsin_ingest.ports import Taker
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.settings import Settings
from tocsin_ingest.spooling import Spooling
from tocsin_kit.filling import Filling
from tocsin_kit.metrics import Gauge
from tocsin_kit.parts import Parts
from tocsin_kit.pulls import Pulls
from tocsin_kit.spool import Spool

AMAZON = "tocsin_ingest.verifying.amazon"
SPOOLED = Gauge("tocsin_ingest_spooled_alerts", "Alerts that wait on disk for the servers.")
FILL = Gauge("tocsin_ingest_stream_fill_ratio", "How full the stream of facts is; 1 is full.")

Receivers = Callable[[Callable[[], bool]], Receiver]
"""Makes a receiver that opens runs only while it may."""


@dataclass(frozen=True, slots=True)
class Receiving:
    """What a process that receives has."""

    http: ASGIApp
    spool: Spool | None
    notice: Callable[[], str]
    background: tuple[Callable[[], Awaitable[None]], ...]


def wire(settings: Settings, parts: Parts, receivers: Receivers) -> Receiving:
    """Put the HTTP application before a receiver, and between them a spool where one is set."""
    filling = Filling(parts.bus.fill)
    FILL.set_function(lambda: filling.ratio)
    receiver, look = receivers(filling.has_room), filling.keep_looking
    spool = _spool(settings)
    if spool is None:
        return Receiving(_http(settings, parts, receiver), None, filling.notice, (look,))
    SPOOLED.set_function(lambda: spool.waiting)
    spooling = Spooling(
        receiver,
        spool,
        parts.bus.canary,
        promised=receivers(lambda: True),
        has_room=filling.has_room,
    )
    drain = partial(spooling.keep_draining, settings.republish_seconds / 4)
    return Receiving(_http(settings, parts, spooling), spool, filling.notice, (look, drain))


def _spool(settings: Settings) -> Spool | None:
    if settings.spool_dir is None:
        return None
    return Spool(
        settings.spool_dir, most_bytes=settings.spool_bytes, most_records=settings.spool_alerts
    )


def _http(settings: Settings, parts: Parts, receiver: Taker) -> ASGIApp:
    known = sources.load(settings.plugins, settings.generic_sources)
    gate = Gate(settings.senders, settings.ingest_tokens, dev=settings.dev)
    gate.check_names(known)
    limits = Limits(
        body_bytes=settings.max_body_bytes,
        read_seconds=settings.read_seconds,
        in_flight=settings.max_in_flight,
        per_sender=settings.max_in_flight_per_sender,
    )
    pulls = Pulls(parts.redis, settings.run_ttl_days)
    forges = ForgeApi(settings.forge_secrets, pulls, parts.bus, limits=limits)
    return Api(
        known,
        receiver,
        gate=gate,
        limits=limits,
        replica_labels=frozenset(settings.replica_labels),
        marks=Marks(settings.incident_labels, frozenset(settings.volatile_labels)),
        subscriptions=Subscriptions(_amazon(settings)),
    ).app(forges.routes())


def _amazon(settings: Settings) -> Authority | None:
    """Cryptography and an HTTP client cost memory: they are loaded where a topic is named."""
    if not any(sender.topics for sender in settings.senders.values()):
        return None
    amazon: Authority = importlib.import_module(AMAZON).Amazon()
    return amazon
