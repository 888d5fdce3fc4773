"""Everything that is known of a run, in lines, for whoever has to take over from here."""

from collections.abc import Iterable, Iterator

from tocsin_contracts import (
    AlertAccepted,
    CheckResult,
    CheckVerdict,
    Finding,
    HypothesisFormed,
    HypothesisRejected,
    InvestigationInconclusive,
    PlanDrafted,
    Rejection,
    RunEscalated,
    RunFinished,
)
from tocsin_kit.run_view import Run

SEEN = 10
"""Lines of what was seen; the API and the console show them all."""

CAUSES = 5
"""Causes that are told of, the likeliest first."""


def known(ended: RunEscalated | RunFinished, run: Run | None) -> Iterator[str]:
    """Yield what was thought, what was ruled out, which checks did not pass, and what was seen."""
    yield from (_cause(finding) for finding in _findings(run)[:CAUSES])
    yield from (_ruled_out(one) for one in _rejections(run))
    yield from (_failed(check) for check in _checks(ended, run) if not _passed(check))
    seen = ended.seen if isinstance(ended, RunEscalated) else ()
    yield from (f"Seen: {one}" for one in seen[:SEEN])
    if len(seen) > SEEN:
        yield f"… {len(seen) - SEEN} more"


def about(run: Run | None) -> str:
    """Say which alert a run is about, and where: a reader may see nothing but one message."""
    accepted = run.fact(AlertAccepted) if run else None
    if accepted is None:
        return ""
    alert, place = accepted.alert, accepted.alert.workload
    where = f", {place.namespace}/{place.name}" if place else ""
    cluster = f" on {place.cluster}" if place and place.cluster else ""
    return f"About {alert.severity.value} {alert.title}{where}{cluster}."


def _findings(run: Run | None) -> tuple[Finding, ...]:
    """What could be the cause, the likeliest first: of the newest look at it."""
    formed = run.fact(HypothesisFormed) if run else None
    vague = run.fact(InvestigationInconclusive) if run else None
    if vague and (formed is None or formed.at < vague.at):
        return vague.candidates
    return (formed.hypothesis.finding, *formed.hypothesis.alternatives) if formed else ()


def _rejections(run: Run | None) -> tuple[Rejection, ...]:
    rejected = run.fact(HypothesisRejected) if run else None
    return rejected.rejections if rejected else ()


def _checks(ended: RunEscalated | RunFinished, run: Run | None) -> Iterable[CheckResult]:
    if isinstance(ended, RunEscalated):
        return ended.checks
    drafted = run.fact(PlanDrafted) if run else None
    return drafted.plan.checks if drafted else ()


def _cause(finding: Finding) -> str:
    return f"Cause, {finding.confidence:.0%} sure: {finding.summary}"


def _ruled_out(rejection: Rejection) -> str:
    why = "; ".join(rejection.reasons)
    return f"Ruled out: {rejection.cause.value}{f', {why}' if why else ''}"


def _passed(check: CheckResult) -> bool:
    return check.verdict is CheckVerdict.PASS


def _failed(check: CheckResult) -> str:
    todo = f" {check.action}" if check.action else ""
    return f"Check {check.check}: {check.verdict.value}, {check.detail}{todo}"
