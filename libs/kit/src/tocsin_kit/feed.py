"""Every fact in the order of the stream, for whoever only looks on: no durable, nothing to settle.

A consumer of this kind ends with its server, and what is under way to it ends with a connection;
both show as silence or as a number that is missing. Then another one begins after the last fact.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header, StatusCode
from pydantic import ValidationError

from tocsin_contracts import BY_TOPIC, PREFIX, Event
from tocsin_kit import logging
from tocsin_kit.bus import Bus
from tocsin_kit.errors import TransientError
from tocsin_kit.topology import FACTS

BATCH = 100
ASK_SECONDS = 1.0
"""How long one request for more waits at the server."""

SILENCE_SECONDS = 1.0
"""How much longer an answer may take before the consumer counts as gone."""

KEPT_SECONDS = 30.0
"""How long the server keeps a consumer that nobody asks any more."""

LOOK_SECONDS = 2.0
PAUSE_SECONDS = 0.2

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Fact:
    """A message by its number in the stream; no event where this version cannot read it."""

    number: int
    event: Event | None


class LostError(Exception):
    """The consumer is gone, or something that it sent is."""


class Feed:
    """Reads the stream of facts over the connection of a bus."""

    def __init__(self, connect: Callable[[], Awaitable[Client]]) -> None:
        self._connect = connect

    @classmethod
    def of(cls, bus: Bus) -> "Feed":
        """Read over the connection that a bus has."""
        return cls(bus.broker.connect)

    async def newest(self) -> int:
        """Return the number of the newest fact, 0 before the first; TransientError if unknown."""
        try:
            return await _newest(await self._connect())
        except (TimeoutError, NatsError, OSError) as error:
            raise TransientError(f"look at stream {FACTS!r}: no answer: {error!r}") from error

    async def facts(
        self, after: int, *, kinds: Sequence[type[Event]] = ()
    ) -> AsyncGenerator[Fact, None]:
        """Yield every fact after a number, in order and without a gap, for ever.

        With `kinds` only facts of these are read. A bus that is away is waited for. A stream that
        was made anew is read from its beginning.
        """
        async with aclosing(self._read(after, kinds)) as found:
            async for fact in found:
                if fact:
                    yield fact

    async def past(
        self, after: int, until: int, *, kinds: Sequence[type[Event]] = ()
    ) -> AsyncGenerator[Fact, None]:
        """Yield the facts after one number and up to another, of those that are still kept."""
        async with aclosing(self._read(after, kinds)) as found:
            async for fact in found:
                if fact is None or fact.number > until:
                    return
                yield fact
                if fact.number == until:
                    return

    async def _read(
        self, after: int, kinds: Sequence[type[Event]]
    ) -> AsyncGenerator[Fact | None, None]:
        """Yield facts, and None whenever there is no further one for now."""
        while True:
            try:
                client = await self._connect()
                after = after if after <= await _newest(client) else 0
                async with aclosing(_messages(client, after, kinds)) as messages:
                    async for msg in messages:
                        fact = _fact(msg) if msg else None
                        after = fact.number if fact else after
                        yield fact
            except (TimeoutError, NatsError, OSError, LostError) as error:
                log.info("feed.begins_anew", after=after, why=repr(error))
            await asyncio.sleep(PAUSE_SECONDS)


async def _newest(client: Client) -> int:
    info = await client.jetstream(timeout=LOOK_SECONDS).stream_info(FACTS)
    return info.state.last_seq


async def _messages(
    client: Client, after: int, kinds: Sequence[type[Event]]
) -> AsyncGenerator[Msg | None, None]:
    """Yield what one consumer gives, and None when it has no more for now; LostError at a gap."""
    js, inbox = client.jetstream(timeout=LOOK_SECONDS), client.new_inbox()
    name = inbox.rpartition(".")[2]
    config = ConsumerConfig(
        name=name,
        filter_subjects=[kind.pattern() for kind in kinds] or [f"{PREFIX}.>"],
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=after + 1,
        ack_policy=AckPolicy.NONE,
        mem_storage=True,
        num_replicas=1,
        inactive_threshold=KEPT_SECONDS,
    )
    answers = await client.subscribe(inbox)
    try:
        await js.add_consumer(FACTS, config)
        given = 0
        while True:
            await _ask(client, name, inbox)
            for _ in range(BATCH):
                msg = await _next(answers)
                if msg is None:
                    yield None
                    break
                given += 1
                if msg.metadata.sequence.consumer != given:
                    raise LostError(f"message {given} of the consumer did not come")
                yield msg
    finally:
        with suppress(TimeoutError, NatsError, OSError):
            await answers.unsubscribe()
            if client.is_connected:
                await js.delete_consumer(FACTS, name)


async def _ask(client: Client, name: str, inbox: str) -> None:
    wish = {"batch": BATCH, "expires": int(ASK_SECONDS * 1e9)}
    subject = f"$JS.API.CONSUMER.MSG.NEXT.{FACTS}.{name}"
    await client.publish(subject, json.dumps(wish).encode(), reply=inbox)


async def _next(answers: Subscription) -> Msg | None:
    """Return the next message, or None when the server has none for now."""
    msg = await answers.next_msg(timeout=ASK_SECONDS + SILENCE_SECONDS)
    if (task := asyncio.current_task()) and task.cancelling():
        raise asyncio.CancelledError  # the client can lose one: python/cpython#86296
    status = (msg.headers or {}).get(Header.STATUS)
    if status == StatusCode.REQUEST_TIMEOUT:
        return None
    if status:
        raise LostError(f"the server says {status}")
    return msg


def _fact(msg: Msg) -> Fact:
    number, topic = msg.metadata.sequence.stream, msg.subject.split(".", 1)[1].rpartition(".")[0]
    kind = BY_TOPIC.get(topic)
    try:
        return Fact(number, kind.model_validate_json(msg.data) if kind else None)
    except ValidationError as error:
        log.warning("feed.unreadable", number=number, topic=topic, faults=error.error_count())
        return Fact(number, None)
