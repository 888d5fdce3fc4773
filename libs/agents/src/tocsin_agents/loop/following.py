"""Hear of a wish to stop wherever it was said: it is looked for while the work goes on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from tocsin_agents.loop.invocation import Cancel
from tocsin_kit.errors import TransientError

Wish = Callable[[], Awaitable[str | None]]
"""Says who wants the run to stop; None while nobody does."""


@asynccontextmanager
async def following(wish: Wish, cancel: Cancel, every: float = 2) -> AsyncIterator[None]:
    """Look every so many seconds while the block runs; a store that is away is asked again.

    Together with the grace of a running tool this is how long a wish to stop can take.
    """
    looking = asyncio.create_task(_look(wish, cancel, every))
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.wait([looking])
        if not looking.cancelled():
            looking.result()


async def _look(wish: Wish, cancel: Cancel, every: float) -> None:
    while not cancel.requested:
        with suppress(TransientError):
            by = await wish()
            if by is not None:
                cancel.request(by)
                return
        await asyncio.sleep(every)
