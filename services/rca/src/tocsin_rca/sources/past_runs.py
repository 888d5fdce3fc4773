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
)
from tocsin_kit.run_view import Run, RunReader
from tocsin_kit.runs_about import RunsAbout
from tocsin_rca.ports import Clock, PastRun

MOST = 5


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

    async def _readable(self, run_id: RunId) -> Run | None:
        try:
            return await self._reader.get(run_id)
        except ValueError:
            return None


def _things(alert: Alert) -> Iterator[str]:
    if key := _key(alert):
        yield f"incident {key}"
    if workload := alert.workload:
        yield f"workload {workload.cluster}/{workload.namespace}/{workload.name}"


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
