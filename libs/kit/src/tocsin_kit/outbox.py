"""Events stored outside a handler are published again until the bus has acknowledged them.

Before a record stores an event under a field `out:…`, a ticket for it is put down here; it is taken
away once the bus has the event. Whoever crashes in between is healed by the next look of any
replica, which sees nothing but what waits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tocsin_contracts import Event
from tocsin_kit import keys, logging, store
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.pipelining import Command
from tocsin_kit.store import text_fields, translated, unanswered

SETTLE_MS = 60_000
"""How long a ticket whose record stores nothing is kept."""

MOST_TICKETS = 1000
AT_ONCE = 50
"""How many tickets one look takes, and how many of their records it sends at a time."""

Read = Callable[[str, str], Event]
"""Turn a field's name and value into the event it stands for; the same event every time."""

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Stored:
    """One event that waits in a record, and the ticket that says so."""

    key: str
    field: str
    event: Event
    ticket: str = ""


async def left_to_others(event: Event) -> None:
    """Publish nothing: those who may publish it find it in the outbox and do."""
    raise TransientError(f"{event.topic} of run {event.run_id!r} is told by whoever may tell it")


class Outbox:
    """The events of one owner that may not have reached the bus yet."""

    def __init__(
        self,
        client: Redis,
        owner: str,
        read: Read,
        publish: Callable[[Event], Awaitable[None]],
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._pipeline = store.pipeline(client)
        self._index = keys.outbox(owner)
        self._read = read
        self._publish = publish
        self._clock = clock or SystemClock()
        self._ours, self._numbers = uuid4().hex[:12], count()

    def ticket(self, key: str) -> tuple[str, Command]:
        """Return a ticket and the command that puts it down; run it before the record stores."""
        ticket = f"{key} {self._ours}.{next(self._numbers)}"
        return ticket, ("ZADD", self._index, millis(self._clock.now()), ticket)

    async def announce(self, key: str) -> str:
        """Put down a ticket for a record that is about to store an event; return it."""
        ticket, command = self.ticket(key)
        try:
            await self._pipeline.ask(command)
        except RedisError as error:
            raise unanswered(f"announce {key!r}", error) from error
        return ticket

    def drop(self, ticket: str) -> None:
        """Take a ticket away, soon: its record stored nothing."""
        self._pipeline.tell(("ZREM", self._index, ticket))

    async def send(self, stored: Stored) -> None:
        """Publish one stored event; once the bus has it, it is forgotten soon."""
        await self._publish(stored.event)
        self._pipeline.tell(*self._settling(stored))

    async def flush(self, waiting_for: float = 0) -> int:
        """Publish what has been waiting for so many seconds; returns how many events were sent."""
        latest = millis(self._clock.now() - timedelta(seconds=waiting_for))
        async with translated("read the outbox"):
            found: Any = await self._client.zrange(
                self._index,
                "-inf",
                latest,
                byscore=True,
                offset=0,
                num=MOST_TICKETS,
                withscores=True,
            )
        tickets: dict[str, list[tuple[str, int]]] = {}
        for ticket, at in found:
            tickets.setdefault(str(ticket).partition(" ")[0], []).append((str(ticket), int(at)))
        records, sent = list(tickets.items()), 0
        for start in range(0, len(records), AT_ONCE):
            some = records[start : start + AT_ONCE]
            sent += sum(await asyncio.gather(*(self._try_record(*record) for record in some)))
        return sent

    async def keep_flushing(self, every: float) -> None:
        """Flush every so many seconds until cancelled; an outage is logged and waited out.

        What was stored just now is on its way, and left to whoever stored it.
        """
        while True:
            await asyncio.sleep(every)
            try:
                if sent := await self.flush(waiting_for=every):
                    log.info("outbox.republished", events=sent)
            except TransientError as error:
                log.warning("outbox.flush_postponed", why=str(error))

    async def _try_record(self, key: str, tickets: Iterable[tuple[str, int]]) -> int:
        """One record that cannot be sent must not hold back the others."""
        try:
            return await self._flush_record(key, tickets)
        except (TransientError, PermanentError, ValueError) as error:
            log.warning("outbox.record_waits", key=key, why=str(error))
            return 0

    async def _flush_record(self, key: str, tickets: Iterable[tuple[str, int]]) -> int:
        async with translated(f"read {key!r}"):
            record = text_fields(await self._client.hgetall(key))
        waiting = self._waiting(key, record)
        for stored in waiting:
            await self._publish(stored.event)
        settled = [part for stored in waiting for part in self._settling(stored)]
        if not waiting:
            latest = millis(self._clock.now()) - SETTLE_MS
            settled = [("ZREM", self._index, ticket) for ticket, at in tickets if at < latest]
        if settled:
            async with translated(f"settle {key!r}"):
                await self._pipeline.ask(*settled)
        return len(waiting)

    def _settling(self, stored: Stored) -> list[Command]:
        commands: list[Command] = [("HDEL", stored.key, stored.field)]
        if stored.ticket:
            commands.append(("ZREM", self._index, stored.ticket))
        return commands

    def _waiting(self, key: str, record: Mapping[str, str]) -> list[Stored]:
        fields = sorted(name for name in record if name.startswith("out:"))
        return [Stored(key, name, self._read(name, record[name])) for name in fields]
