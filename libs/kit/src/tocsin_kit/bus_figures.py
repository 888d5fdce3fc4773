"""What JetStream says of our streams and of the places that services have in them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import ConsumerInfo, StreamInfo
from nats.js.errors import NotFoundError

from tocsin_kit.errors import TransientError
from tocsin_kit.topology import CONSUMERS, STREAMS

LOOK_SECONDS = 2.0
PAGE = 256
"""Consumers that the server names in one answer."""

_READ_FROM = tuple(dict.fromkeys(consumer.stream for consumer in CONSUMERS))


@dataclass(frozen=True, slots=True)
class BusFigures:
    """Streams and durables by their names; what the server does not know is not in here."""

    streams: Mapping[str, StreamInfo]
    consumers: Mapping[str, ConsumerInfo]


async def bus_figures(connect: Callable[[], Awaitable[Client]]) -> BusFigures:
    """Ask the server. Raises TransientError when it does not answer within seconds."""
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            client = await connect()
            streams = await _streams(client)
            consumers = [one for name in _READ_FROM for one in await _consumers(client, name)]
    except (TimeoutError, NatsError, OSError) as error:
        raise TransientError(f"look at the bus: no answer: {error!r}") from error
    return BusFigures(streams, {one.name: one for one in consumers})


async def _streams(client: Client) -> dict[str, StreamInfo]:
    js, found = client.jetstream(timeout=LOOK_SECONDS), {}
    for name in (str(stream.name) for stream in STREAMS):
        try:
            found[name] = await js.stream_info(name)
        except NotFoundError:
            continue
    return found


async def _consumers(client: Client, stream: str) -> list[ConsumerInfo]:
    js = client.jetstream(timeout=LOOK_SECONDS)
    found: list[ConsumerInfo] = []
    try:
        while page := await js.consumers_info(stream, len(found)):
            found += page
            if len(page) < PAGE:
                break
    except NotFoundError:
        return []
    return found
