"""How many runs are new, whether that is a storm, and which run stands for which root in it."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel
from redis.asyncio import Redis

from tocsin_contracts import RunId, StormRoot
from tocsin_kit import keys
from tocsin_kit.clock import Clock, SystemClock, from_millis, millis
from tocsin_kit.store import Script


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands in a storm: it stands for its root itself, or another one does."""

    storm: str
    leader: RunId
    new_runs: int
    started_at: datetime


class Digest(BaseModel):
    """What an ended storm was made of; `since` is in milliseconds since the epoch."""

    since: int
    runs: int
    roots: tuple[StormRoot, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see of a storm: it goes on, or it has ended, or it is long forgotten."""

    goes_on: bool
    digest: Digest | None
    new_runs: int = 0
    started_at: datetime | None = None


class Storms:
    """Counts new runs. A storm is named by the run that made it one."""

    def __init__(
        self, client: Redis, *, window_seconds: float, threshold: int, clock: Clock | None = None
    ) -> None:
        self._script = Script(client, "storm")
        self._keys = [keys.triage(part) for part in ("arrivals", "storm", "stormy", "storms")]
        self._window_ms = int(window_seconds * 1000)
        self._threshold = threshold
        self._clock = clock or SystemClock()

    async def enter(self, run_id: RunId, root: str, replacing: str = "") -> Place | None:
        """Count a run, once however often it enters; None where there is no storm.

        `replacing` is a leader of the root that has ended: this run takes its place.
        """
        storm, leader, count, since = await self._call("enter", run_id, root, replacing)
        if not storm:
            return None
        return Place(storm, RunId(leader), int(count), from_millis(since))

    async def look(self, storm: str) -> Look:
        """Return whether a storm goes on; one that has died down ends with this look."""
        on, digest, count, since = await self._call("look", storm, "", "")
        found = Digest.model_validate_json(digest) if digest else None
        return Look(on == "on", found, int(count), from_millis(since) if on else None)

    async def _call(self, mode: str, name: str, root: str, replacing: str) -> list[str]:
        now = millis(self._clock.now())
        args: list[str | int] = [mode, now, self._window_ms, self._threshold]
        answer: list[str] = await self._script(self._keys, [*args, name, root, replacing])
        return answer
