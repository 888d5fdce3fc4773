"""The steps of an investigation; each takes the state and returns what changed."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tocsin_agents.budget import Budget
from tocsin_contracts import (
    CauseClass,
    Finding,
    Hypothesis,
    HypothesisFormed,
    InvestigationInconclusive,
    Rejection,
    RelatedAlert,
    RunId,
)
from tocsin_kit import logging
from tocsin_kit.errors import TocsinError
from tocsin_kit.untrusted import line
from tocsin_rca import collectors
from tocsin_rca.analyzers import Analyzer, analyze
from tocsin_rca.collectors import alerts
from tocsin_rca.collectors.target import cluster_of
from tocsin_rca.evidence import Case, conclude
from tocsin_rca.evidence.comparison import Conclusion, summary
from tocsin_rca.evidence.seen import objects_seen
from tocsin_rca.ports import LateNews, Recordings, World
from tocsin_rca.recording import Attempt, RecordedWorld
from tocsin_rca.state import RcaState

KEPT_CASES = 64
"""Attempts whose evidence is kept: one that was taken over by another worker never ends here."""

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The case of one attempt, what was told for it, and the news that it holds."""

    case: Case
    recorded: RecordedWorld | None = None
    news: tuple[RelatedAlert, ...] = ()


class Nodes:
    """The steps, with the world they look at and the analyzers they ask."""

    def __init__(
        self,
        world: World,
        analyzers: Iterable[Analyzer],
        budget: Callable[[], Budget],
        news: LateNews,
        recordings: Recordings | None = None,
    ) -> None:
        self._world = world
        self._analyzers = tuple(analyzers)
        self._budget = budget
        self._news = news
        self._recordings = recordings
        self._seen: dict[tuple[str, int], _Seen] = {}

    async def collect(self, state: RcaState) -> RcaState:
        """Look at everything that may explain the alert."""
        case = await self._case(state)
        log.info("rca.evidence_collected", items=len(case.observations))
        return {}

    async def analyze(self, state: RcaState) -> RcaState:
        """Ask every analyzer."""
        return {"findings": list(analyze(await self._case(state), self._analyzers))}

    async def conclude(self, state: RcaState) -> RcaState:
        """Choose one hypothesis, or say honestly that there is none."""
        kept = _key(state) in self._seen
        case, run_id = await self._case(state), RunId(state["run_id"])
        # Findings point at evidence by its id, which means something else after a second look.
        findings = state["findings"] if kept else analyze(case, self._analyzers)
        seen = self._seen.pop(_key(state))
        told = answer(run_id, case, findings, state["attempt"], state["rejected"])
        await self._keep(state, seen, told)
        ruled_out = state.get("rejections", [])
        objects = sorted(objects_seen(case), key=str)
        now = self._world.clock.now()
        return {"answer": with_reasons(told, ruled_out), "objects": objects, "concluded": now}

    async def _case(self, state: RcaState) -> Case:
        """Return what this attempt saw, with the alerts that joined the run meanwhile.

        A worker that took over looks again.
        """
        key, run_id = _key(state), RunId(state["run_id"])
        if key not in self._seen:
            if len(self._seen) >= KEPT_CASES:
                del self._seen[next(iter(self._seen))]
            self._seen[key] = await self._look(state, run_id)
        news = await self._news.of(run_id)
        seen = self._seen[key]
        self._seen[key] = replace(seen, case=alerts.heard(seen.case, news), news=news)
        return self._seen[key].case

    async def _look(self, state: RcaState, run_id: RunId) -> _Seen:
        alert, budget = state["alert"], self._budget()
        if self._recordings is None:
            return _Seen(await collectors.collect(alert, self._world, budget, run_id))
        recorded = RecordedWorld(self._world, cluster_of(alert))
        case = await collectors.collect(alert, recorded.world, budget, run_id)
        return _Seen(case, recorded)

    async def _keep(self, state: RcaState, seen: _Seen, told: Conclusion) -> None:
        """Keep what was seen; a run does not fail because it cannot be played again."""
        if self._recordings is None or seen.recorded is None:
            return
        attempt = Attempt(
            alert=state["alert"],
            number=state["attempt"],
            rejected=tuple(state["rejected"]),
            news=seen.news,
            rejections=tuple(state.get("rejections", ())),
            concluded=summary(told),
        )
        try:
            recording = await asyncio.to_thread(seen.recorded.packed, attempt)
            await self._recordings.keep(RunId(state["run_id"]), attempt.number, recording)
        except (TocsinError, ValueError) as error:
            log.warning("rca.not_recorded", why=line(str(error)))


def answer(
    run_id: RunId,
    case: Case,
    findings: Iterable[Finding],
    attempt: int,
    rejected: Sequence[CauseClass],
) -> HypothesisFormed | InvestigationInconclusive:
    """Return the event that says what an attempt came to."""
    found = conclude(case, findings, attempt, frozenset(rejected))
    if isinstance(found, Hypothesis):
        known = found.model_copy(update={"rejected": tuple(rejected)})
        return HypothesisFormed(run_id=run_id, alert=case.alert, hypothesis=known)
    return InvestigationInconclusive(
        run_id=run_id,
        alert=case.alert,
        why=found.why,
        evidence=found.evidence,
        candidates=found.candidates,
    )


def with_reasons(
    told: HypothesisFormed | InvestigationInconclusive, ruled_out: Sequence[Rejection]
) -> HypothesisFormed | InvestigationInconclusive:
    """Return an answer that says why checks have ruled out what they did."""
    if isinstance(told, HypothesisFormed):
        hypothesis = told.hypothesis.model_copy(update={"rejections": tuple(ruled_out)})
        return told.model_copy(update={"hypothesis": hypothesis})
    known = [f"{one.cause.value}: {', '.join(one.reasons)}" for one in ruled_out if one.reasons]
    said = f"{told.why} The checks said: {'; '.join(known)}" if known else told.why
    return told.model_copy(update={"why": said})


def _key(state: RcaState) -> tuple[str, int]:
    return state["run_id"], state["attempt"]
