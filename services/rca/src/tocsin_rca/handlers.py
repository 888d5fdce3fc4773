"""Where events meet the rca graph."""

from collections.abc import Sequence

from tocsin_contracts import (
    Alert,
    AlertRepeated,
    CauseClass,
    Event,
    HypothesisRejected,
    IncidentOpened,
    InvestigationInconclusive,
    Novelty,
    RelatedAlert,
    RunId,
    RunSuperseded,
)
from tocsin_kit.graphs import Subgraph
from tocsin_rca.ports import LateNews
from tocsin_rca.state import RcaState


class Handlers:
    """One method per event that rca consumes; what it returns is committed and published."""

    def __init__(self, graph: Subgraph[RcaState], max_attempts: int) -> None:
        self._graph = graph
        self._max_attempts = max_attempts

    async def on_incident_opened(self, event: IncidentOpened) -> Event:
        """Find the cause, or say that it is not certain."""
        return await self._investigate(event.run_id, event.alert, 1, ())

    async def on_hypothesis_rejected(self, event: HypothesisRejected) -> Event:
        """Look again without what the checks have ruled out; give up after so many attempts."""
        if event.attempt >= self._max_attempts:
            failed = "; ".join(c.detail for c in event.checks if c.verdict != "pass")
            return InvestigationInconclusive(
                run_id=event.run_id,
                alert=event.alert,
                why=f"{event.attempt} hypotheses were rejected; the last because: {failed}",
                evidence=(),
            )
        return await self._investigate(event.run_id, event.alert, event.attempt + 1, event.rejected)

    async def _investigate(
        self, run_id: RunId, alert: Alert, attempt: int, rejected: Sequence[CauseClass]
    ) -> Event:
        state = await self._graph.run(
            run_id,
            str(attempt),
            {"run_id": run_id, "alert": alert, "attempt": attempt, "rejected": list(rejected)},
        )
        return state["answer"]


class Listeners:
    """What is told while somebody investigates: kept at once, and read between two steps."""

    def __init__(self, news: LateNews) -> None:
        self._news = news

    async def on_alert_repeated(self, event: AlertRepeated) -> None:
        """Keep an alert that is new to its run; one that only repeats says nothing."""
        if event.novelty is Novelty.ALERT:
            told = RelatedAlert(alert=event.alert, at=event.at, why="it is of the same incident")
            await self._news.add(event.run_id, told)

    async def on_run_superseded(self, event: RunSuperseded) -> None:
        """Keep an alert for the run that looks after it now."""
        told = RelatedAlert(alert=event.alert, at=event.at, why=event.why, run_id=event.run_id)
        await self._news.add(event.into, told)
