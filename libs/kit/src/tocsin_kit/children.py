"""End a program that we started, so that waiting for it can never hang."""

import asyncio
import os
import signal
from contextlib import suppress

_PIECE = 1 << 16


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill a process that still runs, and what it started, and wait until it is gone.

    It must lead its own session, and nobody else may be reading from it.

    What it printed last is read and dropped: before Python 3.12.5 asyncio waits for ever for a
    process whose pipe is full and that nobody reads (https://github.com/python/cpython/issues/119710).
    """
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await asyncio.gather(_drained(process.stdout), _drained(process.stderr))
    await process.wait()


async def _drained(stream: asyncio.StreamReader | None) -> None:
    while stream and await stream.read(_PIECE):
        pass
