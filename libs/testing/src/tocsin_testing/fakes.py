"""Fakes, one per port: they keep what they were told, so that a test can look at it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from tocsin_contracts import (
    Alert,
    AlertAccepted,
    AlertRepeated,
    AlertStatus,
    Event,
    RunId,
    RunState,
)
from tocsin_kit.errors import FullError, TocsinError, TransientError
from tocsin_kit.intake import Admission, Outcome, run_id_of
from tocsin_kit.notices import Notice, Told
from tocsin_kit.outbox import Stored
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally
from tocsin_testing.build import NOW

M = TypeVar("M")


class FakeClock:
    """Time that stands still until a test moves it; whoever sleeps moves it too."""

    def __init__(self, now: datetime = NOW) -> None:
        self._now = now

    def now(self) -> datetime:
        """Return the time of the test."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        """Let time pass, without waiting for it."""
        self.advance(seconds)


class Outage:
    """Base of the fakes that can be down: `down` holds the error that every call raises."""

    down: TocsinError | None = None

    def _answer(self) -> None:
        if self.down:
            raise self.down


class FakePublisher(Outage):
    """A bus that keeps what was published, by id as the real one does."""

    def __init__(self) -> None:
        self.published: list[Event] = []

    async def publish(self, event: Event) -> None:
        """Keep the event, unless it is known."""
        self._answer()
        if event.id not in {known.id for known in self.published}:
            self.published.append(event)


class FakeIntake(Outage):
    """A receiver's record in memory: one open run per incident."""

    def __init__(self) -> None:
        self.admitted: list[tuple[str, Alert]] = []
        self.told: list[Event] = []
        self.closed: list[tuple[str, RunId]] = []
        self.reopening: dict[RunId, datetime | None] = {}
        self.open: dict[str, RunId] = {}
        self.may_open = True

    async def admit(self, incident_key: str, alert: Alert) -> Admission:
        """Open a run for a new incident, attach to it afterwards."""
        self._answer()
        self.admitted.append((incident_key, alert))
        known = self.open.get(incident_key)
        if alert.status is AlertStatus.RESOLVED:
            return Admission(Outcome.RESOLVED if known else Outcome.IGNORED, known, None)
        if known:
            repeated = AlertRepeated(run_id=known, alert=alert, occurrences=len(self.admitted))
            return Admission(Outcome.ATTACHED, known, Stored(incident_key, "out:2", repeated))
        if not self.may_open:
            raise FullError("no new run")
        run_id = run_id_of(incident_key, alert.fingerprint, len(self.admitted))
        self.open[incident_key] = run_id
        accepted = AlertAccepted(run_id=run_id, alert=alert, incident_key=incident_key)
        return Admission(Outcome.OPENED, run_id, Stored(incident_key, "out:1", accepted))

    async def tell(self, admission: Admission) -> None:
        """Keep the news."""
        self._answer()
        if admission.stored:
            self.told.append(admission.stored.event)

    async def close(
        self, incident_key: str, run_id: RunId, reopens_at: datetime | None = None
    ) -> None:
        """Keep that the incident was closed."""
        self.reopening[run_id] = reopens_at
        self.closed.append((incident_key, run_id))
        self.open.pop(incident_key, None)

    async def disown(self, incident_key: str, run_id: RunId, fingerprint: str) -> bool:
        """Close the incident, unless a newer run has it."""
        del fingerprint
        if self.open.get(incident_key, run_id) != run_id:
            return False
        await self.close(incident_key, run_id)
        return True


class FakeRuns(Outage):
    """Runs in memory: to make, to read, to cancel."""

    def __init__(self, *runs: Run) -> None:
        self.runs = {run.id: run for run in runs}
        self.created: list[Event] = []
        self.cancelled: list[RunId] = []

    async def create(self, event: Event) -> None:
        """Keep the event that starts a run."""
        self._answer()
        self.created.append(event)

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""
        self._answer()
        return self.runs.get(run_id)

    async def recent(
        self, limit: int, state: RunState | None = None, *, kinds: Sequence[type[Event]] = ()
    ) -> list[Run]:
        """Return the runs that were given first, as the newest."""
        self._answer()
        found = [run for run in self.runs.values() if state in (None, run.state)][:limit]
        topics = {kind.topic for kind in kinds}
        return [
            replace(run, facts={t: f for t, f in run.facts.items() if not topics or t in topics})
            for run in found
        ]

    async def cancel(self, run_id: RunId) -> None:
        """Keep that the run was asked to stop."""
        self._answer()
        self.cancelled.append(run_id)


class FakeTallies(Outage):
    """What a receiver counted, by run."""

    def __init__(self, **tallies: Tally) -> None:
        self.tallies = tallies

    async def many(self, wanted: Sequence[tuple[str, RunId]]) -> list[Tally | None]:
        """Return the counts of each run, or None."""
        return [await self.one(incident_key, run_id) for incident_key, run_id in wanted]

    async def one(self, incident_key: str, run_id: RunId) -> Tally | None:
        """Return the counts of one run, or None."""
        del incident_key
        self._answer()
        return self.tallies.get(run_id)


class FakeChannel(Generic[M]):
    """A way to reach people that keeps what it showed; each of its failures happens once."""

    def __init__(self, name: str, *failures: TocsinError) -> None:
        self.name = name
        self.sent: list[M] = []
        self._failures = list(failures)

    async def send(self, message: M) -> None:
        """Show the message, or fail."""
        if self._failures:
            raise self._failures.pop(0)
        self.sent.append(message)


class FakeNotices(Outage):
    """What was told already, in memory."""

    def __init__(self, settled: Iterable[tuple[RunId, str, str]] = ()) -> None:
        self.settled = set(settled)
        self.held: set[tuple[RunId, str, str]] = set()

    async def of(self, run_id: RunId) -> Told:
        """Return what became of the messages of a run."""
        self._answer()
        held = {(c, m): Notice.HELD for run, m, c in self.held if run == run_id}
        told = {(c, m): Notice.TOLD for run, m, c in self.settled if run == run_id}
        return Told(held | told)

    async def hold(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel holds a message."""
        self._answer()
        self.held.add((run_id, message_id, channel))

    async def settle(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel has shown a message."""
        self._answer()
        self.settled.add((run_id, message_id, channel))


def outage(what: str = "the run store did not answer") -> TransientError:
    """Return the error of something that may answer later."""
    return TransientError(what, retry_in=0.01)
