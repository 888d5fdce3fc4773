"""Read what a process writes, line by line, however long or unfinished its lines are."""

import asyncio
import os
from collections.abc import AsyncGenerator


async def lines(descriptor: int, *, longest: int = 64 * 1024) -> AsyncGenerator[str, None]:
    """Yield lines without their ends until the writer is gone; closes the descriptor.

    A line of more than `longest` bytes arrives in pieces; bytes that are not UTF-8 are replaced.
    """
    reader = asyncio.StreamReader(limit=longest)
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        while raw := await _line(reader):
            yield raw.decode(errors="replace").rstrip("\r\n")
    finally:
        transport.close()


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as ended:
        return ended.partial
    except asyncio.LimitOverrunError as long:
        return await reader.readexactly(long.consumed)
