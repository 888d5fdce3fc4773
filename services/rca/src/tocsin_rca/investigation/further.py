"""Whether a model looks further: after the analyzers, unless they are sure or the run is over."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import TypeVar

from tocsin_agents.loop.following import following
from tocsin_agents.loop.invocation import Cancel
from tocsin_agents.loop.watching import StoppedError, watching
from tocsin_contracts import (
    BudgetExhausted,
    Event,
    HypothesisFormed,
    RunCancelRequested,
    RunId,
    derive_id,
)
from tocsin_kit import logging
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind
from tocsin_rca.investigation.investigator import A_DAY, Asked, Investigator
from tocsin_rca.investigation.known import Answer, Known
from tocsin_rca.investigation.ports import Runs, Timers
from tocsin_rca.ports import Clock

T = TypeVar("T", bound=Event)

EVERY_SECONDS = 2.0
"""How often it is looked whether somebody wants the run to stop."""

log = logging.get(__name__)


class Further:
    """Lets an investigator work on what the analyzers leave open, until somebody stops the run.

    `patience` is how long it waits for people when it nears a limit.
    """

    def __init__(
        self,
        investigator: Investigator,
        runs: Runs,
        timers: Timers,
        clock: Clock,
        *,
        patience: timedelta,
        look_every: float = EVERY_SECONDS,
    ) -> None:
        self._investigator = investigator
        self._runs = runs
        self._timers = timers
        self._clock = clock
        self._patience = patience
        self._look_every = look_every

    async def answer(
        self, event: Event, analysed: Callable[[], Awaitable[Known]], asked: Asked | None
    ) -> Event | None:
        """Return what an attempt comes to, or that it waits; None if the run is to stop."""
        cancel = Cancel()
        async with following(partial(self._wish, event.run_id), cancel, self._look_every):
            told = await self._told(analysed, cancel, asked)
        if isinstance(told, BudgetExhausted):
            await self._wake(event, told)
        return told

    async def _told(
        self, analysed: Callable[[], Awaitable[Known]], cancel: Cancel, asked: Asked | None
    ) -> Answer | BudgetExhausted | None:
        try:
            async with watching(A_DAY, cancel):
                known = await analysed()
        except StoppedError:
            return None
        if known.is_decided:
            return await self._with_earlier(known, known.answer)
        told = await self._investigator.investigate(known, cancel, asked)
        if told is None:
            log.info("rca.investigation_stopped", by=cancel.by)
            return None
        return await self._with_earlier(known, told)

    async def _with_earlier(self, known: Known, told: T) -> T:
        """Add what earlier attempts used: the run's record keeps only the newest of a kind."""
        run = await self._runs.get(known.run_id) if known.attempt > 1 else None
        formed = run.fact(HypothesisFormed) if run else None
        if formed is None or formed.hypothesis.attempt >= known.attempt:
            return told
        used = [one for one in (formed.model_use_before, formed.model_use) if one]
        before = sum(used[1:], used[0]) if used else None
        return told.model_copy(update={"model_use_before": before})

    async def _wake(self, event: Event, told: BudgetExhausted) -> None:
        """End the wait some time; the timer names the very pause, by the id that it will have."""
        timer = Timer(
            kind=TimerKind.BUDGET_EXPIRY,
            run_id=told.run_id,
            due_at=self._clock.now() + self._patience,
            about=derive_id(event.id, BudgetExhausted.topic),
        )
        await self._timers.set_timer(timer)

    async def _wish(self, run_id: RunId) -> str | None:
        run = await self._runs.get(run_id)
        if run is None or not (run.cancel_requested or run.state.terminal):
            return None
        asked = run.fact(RunCancelRequested)
        return asked.by if asked else ""
