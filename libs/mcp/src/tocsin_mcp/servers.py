"""All MCP servers of a process: connected before they are needed, closed when it ends."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from random import random
from types import MappingProxyType, TracebackType
from typing import Self

from tocsin_kit.clock import Clock
from tocsin_mcp.config import Server
from tocsin_mcp.peers import connect as connect_really
from tocsin_mcp.pins import Pins
from tocsin_mcp.port import Connect
from tocsin_mcp.session import Session, State

PRELOAD_SECONDS = 15.0


class Servers:
    """One session for each server that is not disabled.

    To enter waits until each has answered or failed once, for `preload` seconds at most: a server
    that is slow or away delays nobody beyond that, and is tried again in the background.
    """

    def __init__(
        self,
        servers: Iterable[Server],
        pins: Pins,
        *,
        connect: Connect = connect_really,
        clock: Clock | None = None,
        chance: Callable[[], float] = random,
        preload: float = PRELOAD_SECONDS,
    ) -> None:
        self.sessions: Mapping[str, Session] = MappingProxyType(
            {
                server.name: Session(server, pins, connect, clock=clock, chance=chance)
                for server in servers
                if not server.entry.disabled
            }
        )
        self._preload = preload

    @property
    def away(self) -> Mapping[str, str]:
        """The servers that cannot be used now, by name, and why."""
        return {
            name: session.trouble or session.state.value
            for name, session in self.sessions.items()
            if session.state is not State.READY
        }

    async def __aenter__(self) -> Self:
        for session in self.sessions.values():
            session.start()
        try:
            async with asyncio.timeout(self._preload):
                await asyncio.gather(*(one.settled() for one in self.sessions.values()))
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stop()

    async def _stop(self) -> None:
        await asyncio.gather(*(session.stop() for session in self.sessions.values()))
