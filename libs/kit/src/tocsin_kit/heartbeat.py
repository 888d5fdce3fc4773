"""Every process tells how it is, so that silence can be told apart from being well."""

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version

from pydantic import AwareDatetime, ValidationError
from redis.asyncio import Redis

from tocsin_contracts.base import Value
from tocsin_kit import keys, logging
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.errors import TransientError
from tocsin_kit.redaction import Redactor
from tocsin_kit.store import translated
from tocsin_kit.untrusted import line

EVERY_SECONDS = 5.0
KEPT = timedelta(hours=1)
"""How long a process that fell silent is still named."""

MOST_ERROR = 300
"""Characters of an error that are told."""

log = logging.get(__name__)


class Heartbeat(Value):
    """What one process tells of itself."""

    service: str
    instance: str
    version: str
    started_at: AwareDatetime
    at: AwareDatetime
    in_flight: int
    connected: bool
    notice: str = ""
    last_error: str = ""
    last_error_at: AwareDatetime | None = None


class Vitals:
    """What a process is doing, and what went wrong in it last."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self.in_flight = 0
        self.last_error = ""
        self.last_error_at: datetime | None = None

    @contextmanager
    def handling(self) -> Iterator[None]:
        """Count a message while it is handled."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def failed(self, why: str) -> None:
        """Remember what went wrong; the newest error stays."""
        self.last_error, self.last_error_at = why, self._clock.now()


class Heart:
    """Tells the store how this process is, until it ends; the store being away ends nothing."""

    def __init__(
        self,
        client: Redis,
        service: str,
        *,
        vitals: Vitals,
        connected: Callable[[], bool],
        notice: Callable[[], str] | None = None,
        redactor: Redactor | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._service = service
        self._vitals = vitals
        self._connected = connected
        self._notice = notice
        self._clock = clock or SystemClock()
        self._started = self._clock.now()
        self._version = version("tocsin-kit")
        self._redactor = redactor or Redactor()
        self.instance = f"{socket.gethostname()}-{secrets.token_hex(3)}"

    async def run(self) -> None:
        """Beat every few seconds until cancelled, then say farewell: who stops is not missed."""
        try:
            while True:
                await self._try(self.beat)
                await asyncio.sleep(EVERY_SECONDS)
        finally:
            await self._try(self.stop)

    async def beat(self) -> None:
        """Tell once. Raises TransientError when the store does not answer."""
        told = self.heartbeat()
        async with translated("tell a heartbeat"):
            pipe = self._client.pipeline(transaction=False)
            pipe.set(keys.heartbeat(self.instance), told.model_dump_json(), ex=KEPT)
            pipe.zadd(keys.heartbeats(), {self.instance: millis(told.at)})
            pipe.zremrangebyscore(keys.heartbeats(), "-inf", millis(told.at - KEPT))
            pipe.expire(keys.heartbeats(), KEPT)
            await pipe.execute()

    async def stop(self) -> None:
        """Be named no more. Raises TransientError when the store does not answer."""
        async with translated("end a heartbeat"):
            pipe = self._client.pipeline(transaction=False)
            pipe.delete(keys.heartbeat(self.instance))
            pipe.zrem(keys.heartbeats(), self.instance)
            await pipe.execute()

    def heartbeat(self) -> Heartbeat:
        """Return what is told right now, with secrets masked."""
        vitals = self._vitals
        return Heartbeat(
            service=self._service,
            instance=self.instance,
            version=self._version,
            started_at=self._started,
            at=self._clock.now(),
            in_flight=vitals.in_flight,
            connected=self._connected(),
            notice=line(self._redactor.text(self._notice()), MOST_ERROR) if self._notice else "",
            last_error=line(self._redactor.text(vitals.last_error), MOST_ERROR),
            last_error_at=vitals.last_error_at,
        )

    async def _try(self, tell: Callable[[], Awaitable[None]]) -> None:
        try:
            await tell()
        except TransientError as error:
            log.info("heartbeat.not_told", why=str(error))


@dataclass(frozen=True, slots=True)
class Told:
    """A heartbeat, and how old it is by the clock of the store: clocks of machines differ."""

    beat: Heartbeat
    age: timedelta


async def heartbeats(client: Redis) -> list[Told]:
    """Return the last heartbeat of every process that told one within the hour.

    Raises TransientError when the store does not answer.
    """
    async with translated("read heartbeats"):
        names = [str(name) for name in await client.zrange(keys.heartbeats(), 0, -1)]
        pipe = client.pipeline(transaction=False)
        for name in names:
            pipe.get(keys.heartbeat(name))
            pipe.pttl(keys.heartbeat(name))
        told = await pipe.execute()
    pairs = zip(told[::2], told[1::2], strict=True)
    return [
        Told(beat, max(KEPT - timedelta(milliseconds=left), timedelta()))
        for body, left in pairs
        if body and (beat := _read(str(body)))
    ]


def _read(body: str) -> Heartbeat | None:
    """One heartbeat of another version must not hide the others."""
    try:
        return Heartbeat.model_validate_json(body)
    except ValidationError as error:
        log.warning("heartbeat.unreadable", faults=error.error_count())
        return None
