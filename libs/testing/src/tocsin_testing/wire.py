"""The bus as an outsider sees it: what is stored, what waits, and a way to put anything on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import nats
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg

from tocsin_kit.topology import CONSUMERS, FACTS
from tocsin_testing.harness import until


@dataclass(frozen=True, slots=True)
class Wire:
    """One client of its own on a running bus."""

    js: JetStreamContext

    async def stored(self, stream: str = FACTS) -> list[RawStreamMsg]:
        """Return every message of a stream, in order."""
        state = (await self.js.stream_info(stream)).state
        numbers = range(state.first_seq, state.last_seq + 1) if state.messages else ()
        return [await self.js.get_msg(stream, number) for number in numbers]

    async def put(self, subject: str, body: bytes, message_id: str) -> None:
        """Store a message that nobody checks; the bus drops one whose id it knows."""
        await self.js.publish(subject, body, headers={"Nats-Msg-Id": message_id})

    async def waiting(self) -> dict[str, int]:
        """Return how many messages each consumer has not settled yet; those with none left out."""
        infos = [await self.js.consumer_info(one.stream, one.durable) for one in CONSUMERS]
        counts = {i.name: (i.num_pending or 0) + (i.num_ack_pending or 0) for i in infos}
        return {name: count for name, count in counts.items() if count}

    async def drained(self, seconds: float = 20) -> None:
        """Return once every consumer has settled every message."""
        await until(self.waiting, lambda waiting: not waiting, seconds)


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[Wire]:
    """Connect to a bus, and leave it."""
    client = await nats.connect(url)
    try:
        yield Wire(client.jetstream())
    finally:
        await client.close()
