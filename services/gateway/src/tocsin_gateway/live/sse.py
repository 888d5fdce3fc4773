"""The feed as server-sent events: a number on each, a beat in silence, and what a client wants."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial

from pydantic import BaseModel, Field

from tocsin_contracts import Severity
from tocsin_contracts.feed import FactView
from tocsin_gateway.live.hub import Hub, Listener
from tocsin_gateway.streaming import Stream

BEAT_SECONDS = 15.0
LASTS_SECONDS = 600.0
"""How long one stream goes on: then its client comes back by itself, and shows again who it is."""

RETRY_MILLISECONDS = 2000
MOST_DIGITS = 18


class Wanted(BaseModel):
    """Which lines a client wants; nothing chosen is all. Of an unknown severity it gets all."""

    run: str = ""
    severity: tuple[Severity, ...] = ()
    topic: tuple[str, ...] = Field(default=(), description="Or the beginning of one: `approval`.")

    def has(self, line: FactView) -> bool:
        """Whether a line is wanted."""
        return (
            self.run in ("", line.run_id)
            and (not self.severity or line.severity in (None, *self.severity))
            and (not self.topic or line.topic.startswith(self.topic))
        )


def stream(
    hub: Hub,
    wanted: Wanted,
    last_event_id: str = "",
    *,
    who: str,
    beat: float = BEAT_SECONDS,
    lasts: float = LASTS_SECONDS,
) -> Stream:
    """Return the answer that goes on for so many seconds; it resumes after an event id.

    RefusedError if this person may not listen now.
    """
    listener = hub.join(who)
    frames = _frames(hub, listener, wanted, last_event_id, beat)
    leave = partial(hub.leave, listener)
    return Stream(_until(lasts, frames, leave), leave)


async def _until(
    lasts: float, frames: AsyncGenerator[str, None], leave: Callable[[], None]
) -> AsyncGenerator[str, None]:
    end = asyncio.get_running_loop().time() + lasts
    try:
        async with aclosing(frames) as found:
            async for frame in found:
                yield frame
                if asyncio.get_running_loop().time() >= end:
                    return
    finally:
        leave()


async def _frames(
    hub: Hub, listener: Listener, wanted: Wanted, last_event_id: str, beat: float
) -> AsyncGenerator[str, None]:
    """Yield what was missed, then what comes; in silence a beat with the number reached."""
    until = hub.number
    reached = min(_number(last_event_id, until), until)
    yield f"retry: {RETRY_MILLISECONDS}\n: reached\nid: {reached}\n\n"
    async with aclosing(hub.past(reached, until)) as past:
        async for line in past:
            reached = line.number
            if wanted.has(line):
                yield _frame(line)
    reached = max(reached, until)
    while True:
        try:
            async with asyncio.timeout(beat):
                new = await listener.next()
        except TimeoutError:
            yield f": beat\nid: {reached}\n\n"
            continue
        if new is None:
            return
        reached = new.number
        if wanted.has(new):
            yield _frame(new)


def _number(last_event_id: str, newest: int) -> int:
    known = last_event_id.isascii() and last_event_id.isdigit()
    return int(last_event_id) if known and len(last_event_id) <= MOST_DIGITS else newest


def _frame(line: FactView) -> str:
    return f"id: {line.number}\ndata: {line.model_dump_json()}\n\n"
