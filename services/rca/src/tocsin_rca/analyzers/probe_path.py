"""Probes that ask a path which the server answers with 404."""

from dataclasses import dataclass

from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.probes import Probe, ProbeSighting, failing_probes, sibling

_CAUSES = {
    Probe.LIVENESS: CauseClass.LIVENESS_PROBE_MISCONFIGURED,
    Probe.READINESS: CauseClass.READINESS_PROBE_MISCONFIGURED,
}


@dataclass(frozen=True, slots=True)
class _RightPath:
    """The path that the server does answer, if anything tells; and how sure that makes it."""

    path: str | None
    because: str
    confidence: float
    seen: tuple[str, ...] = ()


class ProbePath:
    """The server listens and knows no such path."""

    name = "probe_path"
    needs = "The events of the failing probe, how it is declared, commits and the other probe."
    proof = (
        "The server answers the path of the probe with 404, and the pod runs with the path that "
        "is declared now."
    )
    against = (
        "The pod still ran with another path; no commit and no other probe tells the right one."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such probe; without a known good path, no change."""
        return tuple(f for failing in failing_probes(case) if (f := _finding(case, failing)))


def _finding(case: Case, failing: ProbeSighting) -> Finding | None:
    asked, proof = failing.asks.get("path"), failing.saying("statuscode: 404")
    if not isinstance(asked, str) or not proof or not failing.is_current("path"):
        return None
    workload = case.workload or failing.sighting.pod.data.ref
    right = _right_path(case, failing, asked)
    change = FieldChange(object=workload, path=failing.path("path"), old=asked, new=right.path)
    return Finding(
        cause=_CAUSES[failing.probe],
        object=workload,
        confidence=right.confidence,
        summary=f"The {failing.probe.word} probe of container {failing.container.name} in"
        f" {workload} asks for {asked}, which the server answers with 404.",
        evidence=failing.proven_by(case, *(event.id for event in proof), *right.seen),
        change=change if right.path is not None else None,
        because=right.because,
    )


def _right_path(case: Case, failing: ProbeSighting, asked: str) -> _RightPath:
    workload, other = case.workload, sibling(case, failing)
    change = case.last_change(workload, failing.path("path"), asked) if workload else None
    if change and isinstance(change.field.before, str):
        because = f"{change.told} changed it from {change.field.before}; this undoes that."
        return _RightPath(change.field.before, because, 0.95, (change.seen.id,))
    answered = other.asks.get("path") if other and _same_port(other, failing) else None
    if other and isinstance(answered, str) and answered != asked:
        because = f"The {other.probe.word} probe passes with {answered} on the same port."
        return _RightPath(answered, because, 0.8)
    return _RightPath(None, "Neither a commit nor another probe tells the right path.", 0.7)


def _same_port(one: ProbeSighting, other: ProbeSighting) -> bool:
    return one.handler == other.handler and one.asks.get("port") == other.asks.get("port")
