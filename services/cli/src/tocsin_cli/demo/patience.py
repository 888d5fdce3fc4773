"""Ask again while nobody answers: a service that dies comes back within seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tocsin_cli.errors import UnreachableError
from tocsin_kit.errors import PermanentError

T = TypeVar("T")
SECONDS = 60.0
_PAUSE = 0.3


async def insist(ask: Callable[[], Awaitable[T]]) -> T:
    """Return the answer, as Alertmanager would get it: by asking until somebody answers."""
    last = ""
    try:
        async with asyncio.timeout(SECONDS):
            while True:
                try:
                    return await ask()
                except UnreachableError as error:
                    last = str(error)
                    await asyncio.sleep(_PAUSE)
    except TimeoutError:
        raise PermanentError(f"no answer within {SECONDS:g} s: {last}") from None
