"""Where events meet the triage graph."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    AlertSuppressed,
    EndReason,
    Event,
    RunFinished,
    RunSuperseded,
    StormEnded,
    StormStarted,
)
from tocsin_ingest.endings.survivors import Survivors
from tocsin_ingest.judge import Judge
from tocsin_ingest.ports import Crowd, Runs
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.state import TriageState
from tocsin_ingest.triage import correlation
from tocsin_ingest.triage.rules import Rules
from tocsin_kit.clock import Clock, SystemClock, from_millis
from tocsin_kit.graphs import Subgraph
from tocsin_kit.intake import known_start
from tocsin_kit.run_view import Run
from tocsin_kit.storms import Digest, Look
from tocsin_kit.timers import Timer


class Handlers:
    """One method per event that ingest consumes; what it returns is committed and published."""

    def __init__(
        self,
        graph: Subgraph[TriageState],
        receiver: Receiver,
        runs: Runs,
        *,
        judge: Judge,
        rules: Rules,
        crowd: Crowd,
        clock: Clock | None = None,
    ) -> None:
        self._graph = graph
        self._receiver = receiver
        self._runs = runs
        self._judge = judge
        self._rules = rules
        self._crowd = crowd
        self._survivors = Survivors(crowd)
        self._clock = clock or SystemClock()

    async def on_alert_accepted(self, event: AlertAccepted) -> Sequence[Event]:
        """Decide whether a new run deserves an investigation, and wait until it is its turn.

        Whoever received the alert may have died before it made the run's record.
        """
        await self._runs.create(event)
        start: TriageState = {"run_id": event.run_id, "alert": event.alert, "at": event.at}
        return (await self._graph.run(event.run_id, "1", start))["answer"]

    async def on_alert_repeated(self, event: AlertRepeated) -> None:
        """Keep the count on the run's record; give an alert its own run that this one fails.

        It was attached because the end of the run had not reached the receiver yet, or because the
        rule held that ended it, or the run that took it in was open.
        """
        run = await self._crowd.reader.get(event.run_id)
        if run is None:
            return
        if _began_later(event, run) or await self._is_left_alone(event, run):
            await self._receiver.take_again(event.alert, event.run_id)
        else:
            await self._survivors.tell(run, event)

    async def on_alert_resolved(self, event: AlertResolved) -> None:
        """Let the run that looks after a superseded one know that an alert of that has cleared."""
        run = await self._crowd.reader.get(event.run_id)
        if run:
            await self._survivors.tell(run, event)

    async def on_run_finished(self, event: RunFinished) -> None:
        """Let the next episode of the incident open a new run, and give back what this one held."""
        run = await self._crowd.reader.get(event.run_id)
        accepted = run.fact(AlertAccepted) if run and run.state.terminal else None
        await self._crowd.tickets.leave(event.run_id)
        if run is None or accepted is None:
            return
        card = correlation.card(run.id, accepted.at, accepted.alert, self._rules.correlation)
        await self._crowd.open_runs.remove(card.model_dump_json())
        reopens_at = event.reopens_at or await self._reopens_at(
            run, accepted.incident_key, event.at
        )
        await self._receiver.close(accepted.incident_key, run.id, reopens_at)
        repeated = run.fact(AlertRepeated)
        if repeated and await self._is_left_alone(repeated, run):
            await self._receiver.take_again(repeated.alert, run.id)
        await self._hand_over(run, event.at)

    async def on_storm_due(self, timer: Timer) -> StormStarted | StormEnded | None:
        """Tell of a storm, look again after each window, and tell at its end what it was."""
        look = await self._crowd.storms.look(timer.about)
        if look.digest:
            return _ended(timer, look.digest)
        if not look.goes_on:
            return None
        await self._crowd.timers.set_timer(self._later(timer))
        window = self._rules.storm.window_seconds
        return _started(timer, look, window) if timer.due_at == look.started_at else None

    def _later(self, timer: Timer) -> Timer:
        """The next multiple of a window: the same timer from whoever sets it again."""
        window = self._rules.storm.window_seconds
        missed = max(0.0, (self._clock.now() - timer.due_at).total_seconds()) // window
        due = timer.due_at + timedelta(seconds=window * (missed + 1))
        return timer.model_copy(update={"due_at": due})

    async def _reopens_at(self, run: Run, incident_key: str, ended: datetime) -> datetime | None:
        """From when on the same episodes open a new run: when the reason of the end may be gone."""
        if suppressed := run.fact(AlertSuppressed):
            again = ended + timedelta(minutes=self._rules.recheck_minutes)
            return min(suppressed.until, again) if suppressed.until else None
        if run.fact(RunSuperseded) is None:
            return None
        return None if await self._survivors.join(run, run.id, incident_key) else ended

    async def _hand_over(self, run: Run, ended: datetime) -> None:
        """Leave what a run knows, and the runs that it looked after, to the one that goes on."""
        for news in (run.fact(AlertRepeated), run.fact(AlertResolved)):
            if news:
                await self._survivors.tell(run, news)
        for joined, incident_key in (await self._crowd.joined.of(run.id)).items():
            if not await self._survivors.join(run, joined, incident_key):
                await self._receiver.close(incident_key, joined, ended)

    async def _is_left_alone(self, event: AlertRepeated, run: Run) -> bool:
        """Whether nobody looks after an alert that joined a run which has ended."""
        if not run.state.terminal or _outlives(event, run):
            return run.state.terminal
        if run.fact(AlertSuppressed):
            return not await self._judge.holds(event.alert, self._clock.now())
        return run.fact(RunSuperseded) is not None and await self._survivors.of(run) is None


def _started(timer: Timer, look: Look, window: float) -> StormStarted:
    return StormStarted(
        run_id=timer.run_id,
        storm=timer.about,
        new_runs=max(1, look.new_runs),
        window_seconds=window,
    )


def _ended(timer: Timer, digest: Digest) -> StormEnded:
    return StormEnded(
        run_id=timer.run_id,
        storm=timer.about,
        started_at=from_millis(digest.since),
        new_runs=digest.runs,
        roots=digest.roots,
        more_roots=digest.more,
    )


def _outlives(event: AlertRepeated, run: Run) -> bool:
    """Whether an alert fired after the word that all had cleared, which then ended the run.

    A later word, of an alert that the run looked after, may stand in place of that one.
    """
    cleared, finished = run.fact(AlertResolved), run.fact(RunFinished)
    if cleared is None or finished is None or finished.reason is not EndReason.ALERT_CLEARED:
        return False
    return event.at > cleared.at or cleared.still_firing > 0


def _began_later(event: AlertRepeated, run: Run) -> bool:
    """Whether an alert began after the run had ended, and is not the one that opened it."""
    accepted, finished = run.fact(AlertAccepted), run.fact(RunFinished)
    began = known_start(event.alert, event.at)
    if began is None or accepted is None or finished is None:
        return False
    opened = (accepted.alert.fingerprint, accepted.alert.starts_at)
    return began > finished.at and (event.alert.fingerprint, began) != opened
