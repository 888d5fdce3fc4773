"""The standard error of a server: logged line by line, masked, and never without end."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TextIO

from tocsin_kit import logging
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line
from tocsin_mcp.config import Server

log = logging.get(__name__)

LINES = 200
LONGEST = 400
_CHUNK = 8192
_LAST = 3


@dataclass(slots=True)
class Said:
    """The last lines of a server, for whoever explains why it ended."""

    server: Server
    last: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST))
    logged: int = 0
    _fresh: Redactor = field(default_factory=Redactor)

    def hide(self, secrets: Iterable[str]) -> None:
        """Mask what was only read for this connection, and each word of it."""
        self._fresh = Redactor(word for secret in secrets for word in (secret, *secret.split()))

    def masked(self, text: str) -> str:
        """Return the text without any secret of the server."""
        return self._fresh.text(self.server.redactor.text(text))

    def take(self, text: str) -> None:
        """Remember a line, and log it unless too many were logged already."""
        shown = line(self.masked(text), LONGEST)
        if not shown:
            return
        self.last.append(shown)
        self.logged += 1
        if self.logged <= LINES:
            log.info("mcp.stderr", server=self.server.name, line=shown)
        elif self.logged == LINES + 1:
            log.warning("mcp.stderr_cut", server=self.server.name, after=LINES)


@asynccontextmanager
async def listening(said: Said) -> AsyncIterator[TextIO]:
    """Yield what a process may use as its standard error; it never blocks the process."""
    reading, writing = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", buffering=0)
    )
    taking = asyncio.create_task(_take_all(reader, said))
    try:
        with os.fdopen(writing, "w") as stream:
            yield stream
        await asyncio.wait({taking}, timeout=0.2)  # what a process said last is in the pipe
    finally:
        taking.cancel()
        await asyncio.wait({taking})
        transport.close()


async def _take_all(reader: asyncio.StreamReader, said: Said) -> None:
    rest = ""
    while chunk := await reader.read(_CHUNK):
        *lines, rest = (rest + chunk.decode(errors="replace")).split("\n")
        for one in lines:
            said.take(one)
        rest = rest[:_CHUNK]
    said.take(rest)
