"""Events stored outside a handler are published again until the bus has acknowledged them.

A record that stores an event under a field `out:…` announces itself here first; whoever crashes
between storing and publishing is healed by the next look of any replica.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from tocsin_contracts import Event
from tocsin_kit import keys, logging
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.store import Script, text_fields, translated

SETTLE_MS = 60_000
"""How long an announced record may stay empty before it is forgotten."""

Read = Callable[[str, str], Event]
"""Turn a field's name and value into the event it stands for; the same event every time."""

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Stored:
    """One event that waits in a record."""

    key: str
    field: str
    event: Event


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
        self._forget = Script(client, "outbox_forget")
        self._index = keys.outbox(owner)
        self._read = read
        self._publish = publish
        self._clock = clock or SystemClock()

    async def announce(self, key: str) -> None:
        """Say that a record is about to store an event; call it before storing."""
        async with translated(f"announce {key!r}"):
            await self._client.zadd(self._index, {key: millis(self._clock.now())})

    async def send(self, stored: Stored) -> None:
        """Publish one stored event and forget it once the bus has it."""
        await self._publish(stored.event)
        async with translated(f"settle {stored.key!r}"):
            await self._client.hdel(stored.key, stored.field)

    async def flush(self) -> int:
        """Publish whatever still waits; returns how many events were sent."""
        async with translated("read the outbox"):
            found: Any = await self._client.zrange(self._index, 0, -1, withscores=True)
        return sum([await self._try_record(str(key), int(at)) for key, at in found])

    async def keep_flushing(self, every: float) -> None:
        """Flush every so many seconds until cancelled; an outage is logged and waited out."""
        while True:
            await asyncio.sleep(every)
            try:
                if sent := await self.flush():
                    log.info("outbox.republished", events=sent)
            except TransientError as error:
                log.warning("outbox.flush_postponed", why=str(error))

    async def _try_record(self, key: str, announced: int) -> int:
        """One record that cannot be sent must not hold back the others."""
        try:
            return await self._flush_record(key, announced)
        except (TransientError, PermanentError, ValueError) as error:
            log.warning("outbox.record_waits", key=key, why=str(error))
            return 0

    async def _flush_record(self, key: str, announced: int) -> int:
        async with translated(f"read {key!r}"):
            record = text_fields(await self._client.hgetall(key))
        waiting = self._waiting(key, record)
        for stored in waiting:
            await self.send(stored)
        if not waiting and millis(self._clock.now()) - announced > SETTLE_MS:
            await self._forget([self._index], [key, announced])
        return len(waiting)

    def _waiting(self, key: str, record: Mapping[str, str]) -> list[Stored]:
        fields = sorted(name for name in record if name.startswith("out:"))
        return [Stored(key, name, self._read(name, record[name])) for name in fields]
