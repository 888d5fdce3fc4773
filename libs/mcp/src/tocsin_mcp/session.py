"""Keep one MCP server connected, and let any task call its tools.

A connection is entered and left by one task, the supervisor; calls come from any other. What
hangs or crashes is healed here and slows no other server.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from random import random
from typing import Any

from tocsin_contracts.capability import Capability
from tocsin_kit import logging
from tocsin_kit.backoff import Backoff
from tocsin_kit.clock import Clock, SystemClock
from tocsin_mcp.config import Server
from tocsin_mcp.errors import ConfigError, LostError, NotOfferedError, RefusedError, SilentError
from tocsin_mcp.offers import Offer, Standing, considered, offers
from tocsin_mcp.pins import Pins
from tocsin_mcp.port import CallAnswer, Connect, ListedTool, OnProgress, Peer

log = logging.get(__name__)


class State(StrEnum):
    """Whether a server can be used now."""

    CONNECTING = "connecting"
    READY = "ready"
    AWAY = "away"
    CLOSED = "closed"


class Session:
    """One server. `trouble` says why it is away, or was last; secrets are masked in it."""

    def __init__(
        self,
        server: Server,
        pins: Pins,
        connect: Connect,
        *,
        clock: Clock | None = None,
        chance: Callable[[], float] = random,
    ) -> None:
        self.server = server
        self.state = State.CONNECTING
        self.trouble = ""
        self._pins = pins
        self._connect = connect
        self._clock = clock or SystemClock()
        self._chance = chance
        self._backoff = Backoff(longest=30, healthy_after=60)
        self._slots = asyncio.Semaphore(server.entry.concurrency)
        self._tools: tuple[ListedTool, ...] = ()
        self._peer: Peer | None = None
        self._failures = 0
        self._changed = asyncio.Event()
        self._settled = asyncio.Event()
        self._woken = asyncio.Event()
        self._stopping = False
        self._hurry: asyncio.Timeout | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to connect; the supervisor goes on until `stop`."""
        self._task = asyncio.create_task(self._supervise(), name=f"mcp {self.server.name}")

    async def settled(self) -> None:
        """Wait until the first try to connect is over, well or badly."""
        await self._settled.wait()

    async def stop(self) -> None:
        """Close the connection; a process that we started has ended when this returns."""
        self._stopping = True
        self._woken.set()
        if self._hurry is not None and not self._hurry.expired():
            self._hurry.reschedule(asyncio.get_running_loop().time())
        if self._task is not None:
            await self._task

    def offers(self) -> tuple[Offer, ...]:
        """Return every tool of the server and how it stands; LostError while it is away."""
        if self.state is not State.READY:
            raise LostError(self._away())
        return offers(self.server, self._tools, self._pins)

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> CallAnswer:
        """Use a tool that is offered.

        A read is tried once more when the connection was lost under it; nothing else is. Raises
        LostError, SilentError after the server's timeout, and RefusedError.
        """
        seconds = self.server.entry.timeout
        try:
            async with asyncio.timeout(seconds), self._slots:
                return await self._tried(name, arguments, on_progress)
        except TimeoutError:
            self._woken.set()
            raise SilentError(
                f"MCP server {self.server.name!r} did not answer {name!r} within {seconds:g} s"
            ) from None

    async def _tried(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None
    ) -> CallAnswer:
        peer, offer = await self._connection(), self._offered(name)
        try:
            return await self._asked(peer, offer, arguments, on_progress)
        except LostError:
            if offer.capability is not Capability.READ:
                raise
        peer, offer = await self._connection(), self._offered(name)
        return await self._asked(peer, offer, arguments, on_progress)

    async def _asked(
        self,
        peer: Peer,
        offer: Offer,
        arguments: Mapping[str, Any],
        on_progress: OnProgress | None,
    ) -> CallAnswer:
        try:
            return await peer.call(offer.tool.name, arguments, on_progress)
        except LostError as error:
            self._drop(peer, str(error))
            raise LostError(self._away()) from error

    async def _connection(self) -> Peer:
        """Wait for the server, unless it is known to be away for longer than a moment."""
        while self._peer is None:
            if self.state is State.CLOSED or (self.state is State.AWAY and self._failures > 1):
                raise LostError(self._away())
            await self._changed.wait()
        return self._peer

    def _offered(self, name: str) -> Offer:
        namesakes = [tool for tool in self._tools if tool.name.lower() == name]
        offer = next(iter(offers(self.server, namesakes, self._pins)), None)
        if offer is None:
            raise NotOfferedError(f"MCP server {self.server.name!r} has no tool {name!r}")
        if offer.standing is not Standing.OFFERED:
            raise NotOfferedError(f"tool {self.server.name}.{name} is not offered: {offer.why}")
        return offer

    async def _supervise(self) -> None:
        try:
            while not self._stopping:
                await self._try()
        finally:
            self.state = State.CLOSED
            self._tell()
            self._settled.set()

    async def _try(self) -> None:
        """Live through one connection, and wait before there is another."""
        since = self._clock.now()
        self.state = State.CONNECTING
        try:
            await self._live()
        except LostError as error:
            self._note(str(error))
        except TimeoutError:
            self._note(f"no connection within {self.server.entry.timeout:g} s")
        finally:
            self._down()
        if not self._stopping:
            await self._pause((self._clock.now() - since).total_seconds())

    async def _live(self) -> None:
        """Connect, and stay until the connection is lost or not wanted any more."""
        async with asyncio.timeout(self.server.entry.timeout) as bound:
            self._hurry = bound
            async with self._connect(self.server) as peer:
                tools = await considered(self.server, await peer.tools())
                if bound.expired():
                    await asyncio.sleep(0)  # the end of the time is met here
                bound.reschedule(None)
                self._hurry = None
                self._take(peer, tools)
                await self._watch(peer)

    async def _watch(self, peer: Peer) -> None:
        """Return when the connection is lost; look whether it is when a call was not answered."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            if self._stopping or self._peer is not peer:
                return
            try:
                async with asyncio.timeout(self.server.entry.timeout):
                    self._take(peer, await considered(self.server, await peer.tools()))
            except (LostError, RefusedError, TimeoutError) as error:
                self._note(str(error) or "it did not answer any more")
                return

    def _take(self, peer: Peer, tools: tuple[ListedTool, ...]) -> None:
        try:
            self._pins.meet(self.server.name, tools)
        except ConfigError as error:
            log.warning("mcp.pins", server=self.server.name, error=str(error))
        self._tools, self._peer, self._failures = tools, peer, 0
        self.state = State.READY
        self._tell()
        self._settled.set()
        log.info("mcp.ready", server=self.server.name, tools=len(tools))

    def _drop(self, peer: Peer, why: str) -> None:
        if self._peer is peer:
            self._note(why)
            self._peer = None
            self._woken.set()

    def _down(self) -> None:
        self._hurry = self._peer = None
        self._woken.clear()
        self._failures += 1
        self.state = State.AWAY
        self._tell()

    def _tell(self) -> None:
        """Let those who wait for the server look again."""
        self._changed.set()
        self._changed.clear()

    async def _pause(self, lived: float) -> None:
        """Wait before the next try; the wait is spread so that many do not come at once."""
        wait = self._backoff.after(lived) * (0.5 + self._chance() / 2)
        log.warning("mcp.away", server=self.server.name, why=self.trouble, again_in=wait)
        self._settled.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(None) as self._hurry:
                await self._clock.sleep(wait)
        self._hurry = None

    def _note(self, why: str) -> None:
        self.trouble = self.server.redactor.text(why)

    def _away(self) -> str:
        return f"MCP server {self.server.name!r} is away: {self.trouble or self.state.value}"
