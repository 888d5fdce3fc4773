"""The receiving part: webhooks in, nothing that an agent needs."""

from starlette.types import ASGIApp

from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.settings import Settings


def http(settings: Settings, receiver: Receiver) -> ASGIApp:
    """Return the HTTP application that hands alerts to the receiver."""
    return Api(
        sources.load(),
        receiver,
        tokens=settings.ingest_tokens,
        replica_labels=frozenset(settings.replica_labels),
        max_body_bytes=settings.max_body_bytes,
    ).app()
