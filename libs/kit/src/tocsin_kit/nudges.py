"""Wait until a chat has more, without asking the store all the time; a nudge may be lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from tocsin_contracts import LIVE_PREFIX
from tocsin_contracts.live import ChatMoved
from tocsin_kit import logging
from tocsin_kit.bus import Bus

log = logging.get(__name__)


class Nudge:
    """Something may have moved since it was looked at last."""

    def __init__(self) -> None:
        self._moved = asyncio.Event()

    def moved(self) -> None:
        """Wake who waits."""
        self._moved.set()

    def looked(self) -> None:
        """Forget what moved so far: whoever says so looks now."""
        self._moved.clear()

    async def wait(self, seconds: float) -> None:
        """Return once something moved, and in any case after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._moved.wait()


class Nudges:
    """Listens for what moves in a session, over the connection of a bus."""

    def __init__(self, connect: Callable[[], Awaitable[Client]]) -> None:
        self._connect = connect

    @classmethod
    def of(cls, bus: Bus) -> "Nudges":
        """Listen over the connection that a bus has."""
        return cls(bus.broker.connect)

    @asynccontextmanager
    async def about(self, session: str) -> AsyncIterator[Nudge]:
        """Listen while the block runs; without a bus nothing nudges, and time alone does."""
        nudge = Nudge()

        async def heard(msg: Msg) -> None:
            del msg
            nudge.moved()

        listening = None
        try:
            client = await self._connect()
            subject = f"{LIVE_PREFIX}.{session}.{ChatMoved.kind}"
            listening = await client.subscribe(subject, cb=heard)
        except (NatsError, OSError) as error:
            log.info("nudges.unheard", session=session, why=repr(error))
        try:
            yield nudge
        finally:
            with suppress(NatsError, OSError):
                if listening:
                    await listening.unsubscribe()
