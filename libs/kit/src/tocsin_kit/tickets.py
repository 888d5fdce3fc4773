"""How many investigations go on at once, and whose turn is next.

A ticket belongs to a run until it has ended or has left its investigation: the run's own record
says so, so a ticket cannot be lost with whoever took it.
"""

from dataclasses import dataclass

from redis.asyncio import Redis

from tocsin_contracts import RunId, RunState
from tocsin_kit import keys
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.store import Script, translated

FORGOTTEN_MS = 60_000
"""A waiting run asks again much sooner."""

PROMOTED_MS = 300_000
"""Waiting that makes up for one rank: nothing waits for ever."""

INVESTIGATED = (RunState.RECEIVED, RunState.INVESTIGATING)


@dataclass(frozen=True, slots=True)
class Turn:
    """Whether the run may go on, and how many wait."""

    granted: bool
    waiting: int


class Tickets:
    """Hands out so many tickets: the most urgent first, then the source that holds the fewest."""

    def __init__(self, client: Redis, limit: int, clock: Clock | None = None) -> None:
        self._client = client
        self._limit = limit
        self._clock = clock or SystemClock()
        self._script = Script(client, "ticket")
        self._held, self._waiting = keys.triage("tickets"), keys.triage("waiting")

    async def take(self, run_id: RunId, rank: int, source: str) -> Turn:
        """Ask for a ticket; who has one keeps it, who gets none asks again in a few seconds."""
        turn = await self._ask(run_id, rank, source, [])
        if turn.granted:
            return turn
        finished = await self._finished()
        return await self._ask(run_id, rank, source, finished) if finished else turn

    async def leave(self, run_id: RunId) -> None:
        """Give back whatever the run holds."""
        async with translated(f"give back the ticket of {run_id!r}"):
            pipe = self._client.pipeline(transaction=False)
            pipe.hdel(self._held, run_id)
            pipe.hdel(self._waiting, run_id)
            await pipe.execute()

    async def _ask(self, run_id: RunId, rank: int, source: str, finished: list[str]) -> Turn:
        now = millis(self._clock.now())
        args: list[str | int] = [run_id, rank, source, now, self._limit, FORGOTTEN_MS, PROMOTED_MS]
        granted, waiting = await self._script([self._held, self._waiting], [*args, *finished])
        return Turn(bool(granted), int(waiting))

    async def _finished(self) -> list[str]:
        """Return the holders that are investigated no more, by their own records."""
        async with translated("look at the tickets"):
            holders = [str(run_id) for run_id in await self._client.hkeys(self._held)]
            pipe = self._client.pipeline(transaction=False)
            for run_id in holders:
                pipe.hget(keys.run(run_id), "state")
            states = await pipe.execute()
        return [
            run for run, state in zip(holders, states, strict=True) if state not in INVESTIGATED
        ]
