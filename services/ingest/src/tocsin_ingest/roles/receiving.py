"""The receiving part: webhooks in, nothing that an agent needs."""

import importlib

from starlette.types import ASGIApp

from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.edge.subscriptions import Authority, Subscriptions
from tocsin_ingest.forge_api import ForgeApi
from tocsin_ingest.marks import Marks
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.settings import Settings
from tocsin_kit.parts import Parts
from tocsin_kit.pulls import Pulls

AMAZON = "tocsin_ingest.verifying.amazon"


def http(settings: Settings, parts: Parts, receiver: Receiver) -> ASGIApp:
    """Return the HTTP application that hands alerts to the receiver, and news of forges on."""
    known = sources.load(settings.plugins, settings.generic_sources)
    gate = Gate(settings.senders, settings.ingest_tokens, dev=settings.dev)
    gate.check_names(known)
    limits = Limits(
        body_bytes=settings.max_body_bytes,
        read_seconds=settings.read_seconds,
        in_flight=settings.max_in_flight,
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
