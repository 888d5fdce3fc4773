"""Which of several findings leads: what a failure comes from, before what comes of it."""

from collections.abc import Iterable

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case

BEARS_OTHERS = 0.6
"""The confidence from which a finding may explain a symptom that is surer than itself."""

COMES_OF: dict[CauseClass, int] = {
    CauseClass.BAD_RELEASE: 1,
    CauseClass.CPU_OVERLOAD: 1,
    CauseClass.DEPENDENCY_UNREACHABLE: 1,
    CauseClass.GITOPS_SYNC_FAILED: 1,
    CauseClass.INIT_CONTAINER_FAILURE: 1,
    CauseClass.JOB_DEADLINE_OR_BACKOFF: 1,
    CauseClass.NODE_NOT_READY: 1,
    CauseClass.APP_ERROR: 2,
    CauseClass.APP_LATENCY: 2,
    CauseClass.ROLLOUT_STUCK: 2,
    CauseClass.NO_INCIDENT: 3,
}
"""How far a cause is from what could be put right; one that is not here stands for itself: 0.

A new cause needs a line only if another cause commonly explains it.
"""

OF_PROGRAMS = frozenset(
    {
        CauseClass.COMMAND_NOT_FOUND,
        CauseClass.CONFIG_VALUE_WRONG,
        CauseClass.CONTAINER_ARGS_INVALID,
        CauseClass.CREDENTIALS_INVALID,
        CauseClass.DEPENDENCY_UNREACHABLE,
        CauseClass.MISSING_ENV,
        CauseClass.SERVICE_ADDRESS_MISMATCH,
    }
)
"""What an init container may die of; where one surely fails, it is this that is said of the pod."""

_SURELY = 0.9
_BY_ITS_OWN_WORDS = 0.93
_ELSEWHERE = 0.05
"""What a finding about some other object than the alert's loses beside one about that."""


def ranked(case: Case, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, the one that leads first; the order they came in does not matter.

    Findings too weak to explain anything come last, whatever they are about.
    """
    findings = tuple(findings)
    near = _near(case)
    far = _farther if any(map(_never_starts, findings)) else _distance

    def key(finding: Finding) -> tuple[int, float, bool, int, str, str]:
        strength = finding.confidence - (0 if finding.object in near else _ELSEWHERE)
        return (
            far(finding),
            -round(strength, 3),
            finding.change is None,
            -len(finding.evidence),
            finding.cause.value,
            finding.summary,
        )

    return tuple(sorted(findings, key=key))


def _distance(finding: Finding) -> int:
    if finding.confidence < BEARS_OTHERS:
        return max(COMES_OF.values()) + 1
    if finding.cause is CauseClass.NO_INCIDENT and finding.confidence >= _BY_ITS_OWN_WORDS:
        return 0
    return COMES_OF.get(finding.cause, 0)


def _never_starts(one: Finding) -> bool:
    return one.cause is CauseClass.INIT_CONTAINER_FAILURE and one.confidence >= _SURELY


def _farther(finding: Finding) -> int:
    """How far a cause is from what could be put right where an init container surely fails."""
    if _never_starts(finding):
        return 0
    return _distance(finding) + (1 if finding.cause in OF_PROGRAMS else 0)


def _near(case: Case) -> frozenset[ObjectRef]:
    """The alert's own objects, and what their pods run on or are reached by."""
    own = {ref for ref in (case.named, case.workload) if ref}
    around = (*case.pods, *case.nodes)
    services = (service.data.manifest.ref for service in case.services)
    return frozenset((*own, *(seen.data.ref for seen in around), *services))
