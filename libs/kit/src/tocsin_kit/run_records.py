"""What people do to the record of a run from outside of its handlers: note facts, let it go on."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from redis.asyncio import Redis

from tocsin_contracts import OPEN_STATES, AlertAccepted, Event, RunFinished, RunId, RunState
from tocsin_kit import keys
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.moves import join
from tocsin_kit.runs import fact
from tocsin_kit.store import Script, translated


class ReopenVerdict(StrEnum):
    """What reopening says about a run."""

    REOPENED = "reopened"
    OPEN = "open"
    ENDED = "ended"
    LOST = "lost"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reopening:
    """The verdict, and where the run is now; None for one that the store does not know."""

    verdict: ReopenVerdict
    state: RunState | None
    version: int


class RunRecords:
    """Changes records. Every method raises TransientError when the store does not answer."""

    def __init__(self, client: Redis, ttl_days: float = 30, clock: Clock | None = None) -> None:
        self._ttl_ms = int(timedelta(days=ttl_days).total_seconds() * 1000)
        self._clock = clock or SystemClock()
        self._client = client
        self._note = Script(client, "note", "facts")
        self._reopen = Script(client, "reopen")
        self._take_back = Script(client, "intake_take_back")

    async def note(self, run_id: RunId, *facts: Event) -> None:
        """Keep facts that no handler commits; doing it again changes nothing."""
        parts = [part for one in facts for part in (one.topic, *fact(one))]
        await self._note([keys.run(run_id)], [self._ttl_ms, *parts])

    async def reopen(self, run_id: RunId, ending: str, name: str) -> Reopening:
        """Let a run go on that the event `ending` made fail, once for each name."""
        verdict, state, version = await self._reopen(
            [keys.run(run_id)],
            [
                RunState.FAILED.value,
                ending,
                RunFinished.topic,
                name,
                join(OPEN_STATES),
                millis(self._clock.now()),
            ],
        )
        where, found = RunState(state) if state else None, ReopenVerdict(verdict)
        if found is ReopenVerdict.REOPENED and (incident := await self._incident(run_id)):
            await self._take_back([incident], [run_id])
        return Reopening(found, where, int(version))

    async def follower(self, run_id: RunId) -> RunId | None:
        """Return the newer run of the same incident, if there is one."""
        incident = await self._incident(run_id)
        async with translated(f"look who looks after the alerts of run {run_id!r}"):
            newest = await self._client.hget(incident, "run") if incident else None
        return RunId(str(newest)) if newest and str(newest) != run_id else None

    async def _incident(self, run_id: RunId) -> str | None:
        """Return the key of the receiver's record of the incident that a run is about."""
        async with translated(f"read the alert of run {run_id!r}"):
            stored = await self._client.hget(keys.run(run_id), f"fact:{AlertAccepted.topic}")
        if not stored:
            return None
        accepted = AlertAccepted.model_validate_json(str(stored).partition("\n")[2])
        return keys.incident(accepted.incident_key)
