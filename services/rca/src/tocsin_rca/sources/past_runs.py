"""What came of earlier runs about the same incident or workload, from the run store."""

from collections.abc import Iterator

from tocsin_contracts import (
    Alert,
    Finding,
    HypothesisFormed,
    IncidentOpened,
    InvestigationInconclusive,
    PullRequestOpened,
    RunFinished,
    RunId,
    Workload,
)
from tocsin_kit.run_view import Run, RunReader
from tocsin_kit.runs_about import RunsAbout
from tocsin_rca.evidence.bm25 import Index
from tocsin_rca.ports import Clock, PastRun

MOST = 5
MOST_SEARCHED = 300
_KINDS = (
    IncidentOpened,
    HypothesisFormed,
    InvestigationInconclusive,
    PullRequestOpened,
    RunFinished,
)


class PastRuns:
    """Reads the records of the last few runs; one that cannot be read does not hide the others."""

    source = "runs"

    def __init__(self, reader: RunReader, about: RunsAbout, clock: Clock) -> None:
        self._reader = reader
        self._about = about
        self._clock = clock

    async def before(self, run_id: RunId, alert: Alert) -> tuple[PastRun, ...]:
        """Return the last runs; TransientError if the store does not answer."""
        others = await self._about.meet(run_id, self._clock.now(), _things(alert))
        found: list[PastRun] = []
        for other in others[:MOST]:
            run = await self._readable(other)
            opened = run.fact(IncidentOpened) if run else None
            if run and opened:
                found.append(_past(run, opened.alert, _key(alert)))
        return tuple(found)

    async def of(self, workload: Workload, limit: int) -> tuple[PastRun, ...]:
        """Return the last runs about a workload; TransientError if the store does not answer."""
        ids = await self._about.of(_thing(workload))
        runs = [await self._readable(one) for one in ids[:limit]]
        return tuple(past for run in runs if run for past in _told(run))

    async def like(self, words: str, limit: int) -> tuple[PastRun, ...]:
        """Return the runs that fit the words best, among the newest; TransientError as above."""
        recent = await self._reader.recent(MOST_SEARCHED, kinds=_KINDS)
        known = [past for run in recent for past in _told(run)]
        index = Index(_words(past) for past in known)
        return tuple(known[place] for place, _ in index.best(words, limit))

    async def _readable(self, run_id: RunId) -> Run | None:
        try:
            return await self._reader.get(run_id)
        except ValueError:
            return None


def _things(alert: Alert) -> Iterator[str]:
    if key := _key(alert):
        yield f"incident {key}"
    if workload := alert.workload:
        yield _thing(workload)


def _thing(workload: Workload) -> str:
    return f"workload {workload.cluster}/{workload.namespace}/{workload.name}"


def _told(run: Run) -> Iterator[PastRun]:
    if opened := run.fact(IncidentOpened):
        yield _past(run, opened.alert, "")


def _words(past: PastRun) -> str:
    finding = past.finding
    cause = f"{finding.cause} {finding.object} {finding.summary}" if finding else ""
    return f"{past.title} {cause} {past.ending}"


def _key(alert: Alert) -> str:
    return alert.incident.key if alert.incident else ""


def _past(run: Run, alert: Alert, key: str) -> PastRun:
    pull, finished = run.fact(PullRequestOpened), run.fact(RunFinished)
    return PastRun(
        run_id=run.id,
        opened_at=run.created_at,
        title=alert.title,
        same_incident=bool(key) and _key(alert) == key,
        state=run.state,
        finding=_finding(run),
        pull_request=pull.url if pull else "",
        ending=finished.sentence if finished else "",
    )


def _finding(run: Run) -> Finding | None:
    """Return what the last attempt named; one that named nothing for sure takes it back."""
    formed, open_ = run.fact(HypothesisFormed), run.fact(InvestigationInconclusive)
    if formed is None or (open_ and open_.at > formed.at):
        return None
    return formed.hypothesis.finding
