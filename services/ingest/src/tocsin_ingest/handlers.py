"""Where events meet the triage graph."""

from collections.abc import Sequence

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertSuppressed,
    EndReason,
    Event,
    IncidentOpened,
    RunFinished,
    RunState,
)
from tocsin_ingest.ports import Reader, Runs
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.state import TriageState
from tocsin_kit.graphs import Subgraph
from tocsin_kit.intake import known_start
from tocsin_kit.run_view import Run


class Handlers:
    """One method per event that ingest consumes; what it returns is committed and published."""

    def __init__(
        self, graph: Subgraph[TriageState], receiver: Receiver, runs: Runs, reader: Reader
    ) -> None:
        self._graph = graph
        self._receiver = receiver
        self._runs = runs
        self._reader = reader

    async def on_alert_accepted(self, event: AlertAccepted) -> Sequence[Event]:
        """Decide whether a new run deserves an investigation.

        Whoever received the alert may have died before it made the run's record.
        """
        await self._runs.create(event)
        state = await self._graph.run(event.run_id, "1", {"alert": event.alert})
        if state["investigate"]:
            return [IncidentOpened(run_id=event.run_id, alert=event.alert)]
        return [
            AlertSuppressed(run_id=event.run_id, alert=event.alert, rule=state["rule"]),
            RunFinished(
                run_id=event.run_id,
                outcome=RunState.SUPPRESSED,
                reason=EndReason.SUPPRESSED_BY_RULE,
                sentence=f"Nothing to do: {state['rule']}.",
            ),
        ]

    async def on_alert_repeated(self, event: AlertRepeated) -> None:
        """Keep the count on the run's record; an alert that began after the run gets its own.

        It was attached because the end of the run had not reached the receiver yet.
        """
        run = await self._reader.get(event.run_id)
        if run and _began_later(event, run):
            await self._receiver.take_again(event.alert, event.run_id)

    async def on_run_finished(self, event: RunFinished) -> None:
        """Let the next episode of the incident open a new run."""
        run = await self._reader.get(event.run_id)
        accepted = run.fact(AlertAccepted) if run and run.state.terminal else None
        if accepted:
            await self._receiver.close(accepted.incident_key, event.run_id)


def _began_later(event: AlertRepeated, run: Run) -> bool:
    """Whether an alert began after the run had ended, and is not the one that opened it."""
    accepted, finished = run.fact(AlertAccepted), run.fact(RunFinished)
    began = known_start(event.alert, event.at)
    if began is None or accepted is None or finished is None:
        return False
    opened = (accepted.alert.fingerprint, accepted.alert.starts_at)
    return began > finished.at and (event.alert.fingerprint, began) != opened
