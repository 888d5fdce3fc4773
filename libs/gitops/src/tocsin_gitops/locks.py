"""Locks between processes of one machine: the kernel's own, so a killed holder holds nothing."""

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tocsin_kit.errors import TransientError

_LOOK_AGAIN = 0.05


@asynccontextmanager
async def alone(file: Path, seconds: float) -> AsyncIterator[int]:
    """Hold the lock; give its file descriptor, which a child may keep to hold it further.

    TransientError if somebody else has it for longer than the seconds.
    """
    with file.open("w") as lock:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    if _taken(lock.fileno()):
                        break
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError as error:
            raise TransientError(f"{str(file)!r} is locked by another process") from error
        yield lock.fileno()


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
