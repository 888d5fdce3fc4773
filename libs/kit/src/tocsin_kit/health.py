"""`/live` says that the loop turns; `/ready` that the bus stores and the run store answers."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from redis.asyncio import Redis
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tocsin_kit import metrics
from tocsin_kit.bus import Bus
from tocsin_kit.errors import TransientError
from tocsin_kit.store import translated

FRESH_SECONDS = 1.0


class Fallback(Protocol):
    """What takes a service's work while the servers are away."""

    @property
    def waiting(self) -> int:
        """How many pieces of work wait for the servers."""

    @property
    def has_room(self) -> bool:
        """Whether it takes more."""


@dataclass(slots=True)
class Health:
    """Answers the probes; one look at a time, reused for a second, so that a flood costs little.

    `notice` says what an operator should know of a service that is ready, if anything.
    """

    bus: Bus
    redis: Redis
    fallback: Fallback | None = None
    notice: Callable[[], str] | None = None
    _checked: float = field(default=0.0, init=False)
    _wrong: str = field(default="not checked yet", init=False)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def routes(self) -> list[Route]:
        """Return the routes that every service has: probes and metrics."""
        return [Route("/live", self.live), Route("/ready", self.ready), metrics.route()]

    async def live(self, request: Request) -> JSONResponse:
        """Answer as long as the event loop turns."""
        del request
        return JSONResponse({"status": "live"})

    async def ready(self, request: Request) -> JSONResponse:
        """Publish a canary and ask the run store; 503 with the reason when either fails."""
        del request
        async with self._looking:
            if time.monotonic() - self._checked > FRESH_SECONDS:
                self._wrong = await self._look()
                self._checked = time.monotonic()
        spool = self.fallback
        if self._wrong and not (spool and spool.has_room):
            return JSONResponse({"status": "not ready", "reason": self._wrong}, 503)
        notice = self.notice() if self.notice else ""
        said = {"reason": notice} if notice else {}
        if spool and (self._wrong or spool.waiting):
            why = self._wrong or notice or "what was taken during an outage is being handed on"
            return JSONResponse({"status": "ready", "spooling": spool.waiting, "reason": why})
        return JSONResponse({"status": "ready", **said})

    async def _look(self) -> str:
        try:
            await self.bus.canary()
            async with translated("ping"):
                await self.redis.ping()
        except TransientError as error:
            return str(error)
        return ""
