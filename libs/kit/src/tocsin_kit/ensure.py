"""Create the topology once and refuse to run on one that has drifted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import nats
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, StreamConfig
from nats.js.errors import APIError, NotFoundError

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.redaction import Redactor
from tocsin_kit.topology import CONSUMERS, STREAMS, Consumer, consumer_config

STREAM_FIELDS = (
    "subjects",
    "storage",
    "retention",
    "discard",
    "max_age",
    "max_bytes",
    "max_msgs_per_subject",
    "duplicate_window",
    "allow_msg_schedules",
)
CONSUMER_FIELDS = ("filter_subject", "ack_policy", "ack_wait", "max_deliver", "max_ack_pending")


async def ensure(
    nats_url: str, *, ack_wait: float, accept: bool = False, replicas: int = 1
) -> tuple[str, ...]:
    """Create missing streams and consumers and return what was done, a line each.

    New streams are kept on as many servers as `replicas` says; those that exist stay as they are.

    Something that exists with other settings is drift: it is refused with every difference named,
    unless `accept` says that it should be changed to ours.
    """
    place = Redactor().text(nats_url)
    async with connected(nats_url) as client:
        owner = _Owner(client.jetstream(timeout=10), accept=accept, replicas=replicas)
        try:
            return await owner.all(ack_wait)
        except APIError as error:
            raise PermanentError(f"NATS at {place!r} refuses it: {error.description}") from error


@asynccontextmanager
async def connected(nats_url: str) -> AsyncIterator[Client]:
    """Yield a connection for a moment's work; TransientError if nobody answers."""
    try:
        client = await nats.connect(
            nats_url,
            connect_timeout=5,
            allow_reconnect=False,
            max_reconnect_attempts=1,  # counts first attempts too, and 0 means no limit
            reconnect_time_wait=0,
            error_cb=_raised_anyway,
        )
    except (OSError, NatsError) as error:
        place = Redactor().text(nats_url)
        raise TransientError(f"NATS at {place!r} does not answer: {error}") from error
    try:
        yield client
    finally:
        await client.close()


class _Owner:
    def __init__(self, js: JetStreamContext, *, accept: bool, replicas: int) -> None:
        self._js = js
        self._accept = accept
        self._replicas = replicas
        self._drift: list[str] = []
        self._done: list[str] = []

    async def all(self, ack_wait: float) -> tuple[str, ...]:
        for stream in STREAMS:
            await self._stream(stream)
        for consumer in CONSUMERS:
            await self._consumer(consumer, consumer_config(consumer, ack_wait))
        if self._drift:
            raise PermanentError(
                "the streams on this server differ from what this version needs:\n  "
                + "\n  ".join(self._drift)
                + "\nchange them to ours with `tocsin topology apply --accept`"
            )
        return tuple(self._done)

    async def _stream(self, wanted: StreamConfig) -> None:
        name = str(wanted.name)
        try:
            found = (await self._js.stream_info(name)).config
        except NotFoundError:
            await self._js.add_stream(wanted.evolve(num_replicas=self._replicas))
            self._done.append(f"created stream {name}")
            return
        if drift := differences(wanted, found, STREAM_FIELDS):
            if self._accept:
                await self._js.update_stream(wanted)
            self._note(f"stream {name}", drift)

    async def _consumer(self, consumer: Consumer, wanted: ConsumerConfig) -> None:
        try:
            found = (await self._js.consumer_info(consumer.stream, consumer.durable)).config
        except NotFoundError:
            await self._js.add_consumer(consumer.stream, wanted)
            self._done.append(f"created consumer {consumer.durable}")
            return
        if drift := differences(wanted, found, CONSUMER_FIELDS):
            if self._accept:
                await self._js.add_consumer(consumer.stream, wanted)
            self._note(f"consumer {consumer.durable}", drift)

    def _note(self, what: str, drift: list[str]) -> None:
        if self._accept:
            self._done.append(f"changed {what}: {'; '.join(drift)}")
        else:
            self._drift.extend(f"{what}: {line}" for line in drift)


async def _raised_anyway(error: Exception) -> None:
    """Keep the client from logging what `connect` raises."""
    del error


def differences(wanted: Any, found: Any, fields: tuple[str, ...]) -> list[str]:
    """Compare the fields that we set; a field left alone is the operator's own business."""
    pairs = ((name, getattr(wanted, name), getattr(found, name)) for name in fields)
    return [
        f"{name} is {is_!r}, should be {should!r}"
        for name, should, is_ in pairs
        if should is not None and should != is_
    ]
