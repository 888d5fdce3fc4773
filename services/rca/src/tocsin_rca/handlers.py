"""Where events meet the rca graph, and the model that looks further where it is not sure."""

from functools import partial

from tocsin_contracts import (
    AlertRepeated,
    BudgetExhausted,
    BudgetExtended,
    Event,
    HypothesisRejected,
    IncidentOpened,
    InvestigationInconclusive,
    Novelty,
    Rejection,
    RelatedAlert,
    RunSuperseded,
)
from tocsin_kit.graphs import Subgraph
from tocsin_kit.run_view import Run
from tocsin_kit.timers import Timer
from tocsin_rca.investigation.further import Further
from tocsin_rca.investigation.investigator import Asked
from tocsin_rca.investigation.known import Known
from tocsin_rca.investigation.ports import Runs
from tocsin_rca.ports import LateNews
from tocsin_rca.state import RcaState


class Handlers:
    """One method per event that rca consumes; what it returns is committed and published.

    Without `further` no model is asked: what the analyzers conclude is the answer.
    """

    def __init__(
        self, graph: Subgraph[RcaState], max_attempts: int, further: Further | None = None
    ) -> None:
        self._graph = graph
        self._max_attempts = max_attempts
        self._further = further

    async def on_incident_opened(self, event: IncidentOpened) -> Event | None:
        """Find the cause, or say that it is not certain."""
        return await self.attempt(event, _first(event))

    async def on_hypothesis_rejected(self, event: HypothesisRejected) -> Event | None:
        """Look again without what the checks have ruled out; give up after so many attempts."""
        if event.attempt >= self._max_attempts:
            failed = "; ".join(c.detail for c in event.checks if c.verdict != "pass")
            return InvestigationInconclusive(
                run_id=event.run_id,
                alert=event.alert,
                why=f"{event.attempt} hypotheses were rejected; the last because: {failed}",
                evidence=(),
            )
        return await self.attempt(event, _next(event))

    async def attempt(
        self, event: Event, start: RcaState, asked: Asked | None = None
    ) -> Event | None:
        """Return what an attempt comes to, whether it begins or goes on."""
        if self._further is None:
            return (await self._known(event, start)).answer
        return await self._further.answer(event, partial(self._known, event, start), asked)

    async def _known(self, event: Event, start: RcaState) -> Known:
        state = await self._graph.run(event.run_id, str(start["attempt"]), start)
        return Known(
            answer=state["answer"],
            attempt=start["attempt"],
            objects=frozenset(state.get("objects", ())),
            rejections=tuple(start["rejections"]),
            since=max(event.at, state.get("concluded", event.at)),
        )


class BudgetHandlers:
    """What becomes of an attempt that waits for a larger budget."""

    def __init__(self, handlers: Handlers, runs: Runs) -> None:
        self._handlers = handlers
        self._runs = runs

    async def on_budget_extended(self, event: BudgetExtended) -> Event | None:
        """Go on with what was granted, or end with what there is; an old answer says nothing."""
        run = await self._runs.get(event.run_id)
        pause = run.fact(BudgetExhausted) if run else None
        start = _start(run, pause.attempt) if run and pause else None
        if pause is None or start is None or pause.id != event.answers:
            return None
        return await self._handlers.attempt(event, start, Asked(pause, event.extension))

    async def on_budget_due(self, timer: Timer) -> BudgetExtended | None:
        """Answer in place of people who did not; a late timer finds nothing to do."""
        run = await self._runs.get(timer.run_id)
        pause = run.fact(BudgetExhausted) if run else None
        told = run.fact(BudgetExtended) if run else None
        if pause is None or pause.id != timer.about or (told and told.answers == pause.id):
            return None
        return BudgetExtended(
            run_id=timer.run_id,
            by="tocsin",
            surface="timer",
            granted=False,
            reason="nobody answered in time",
            answers=pause.id,
        )


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


def _start(run: Run, attempt: int) -> RcaState | None:
    """Return how an attempt of a run began, as its record tells it."""
    rejected, opened = run.fact(HypothesisRejected), run.fact(IncidentOpened)
    if attempt > 1:
        return _next(rejected) if rejected and rejected.attempt + 1 == attempt else None
    return _first(opened) if opened else None


def _first(event: IncidentOpened) -> RcaState:
    return {
        "run_id": event.run_id,
        "alert": event.alert,
        "attempt": 1,
        "rejected": [],
        "rejections": [],
    }


def _next(event: HypothesisRejected) -> RcaState:
    known = {one.cause for one in event.rejections}
    unexplained = [Rejection(cause=cause) for cause in event.rejected if cause not in known]
    return {
        "run_id": event.run_id,
        "alert": event.alert,
        "attempt": event.attempt + 1,
        "rejected": list(event.rejected),
        "rejections": [*unexplained, *event.rejections],
    }
