"""Alerts behind which nothing is wrong: heartbeats, tests, notices, and what is well again."""

import re

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.alerted import Theme, alert_ids, alert_text, tells_of
from tocsin_rca.evidence.calls import failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.complaints import complaints

_HEARTBEAT = re.compile(
    r"(?i)^(?:watchdog|dead.?man.{0,10}|heart.?beat\w{0,20}|info.?inhibitor|always.?firing"
    r"|(?:alertmanager)?test.?alert|alert.?test\w{0,10}|testalert|alwaysfiring|ping|canaryalert)$"
)
_MEANT = re.compile(
    r"(?i)this is an alert meant to ensure|always be firing|always firing|meant to be always"
    r"|this is a test alert|test alert(?: from|,|\.| to)|only a test|ignore this alert"
    r"|used to inhibit|no action (?:is )?(?:needed|required)|informational only"
    r"|scheduled maintenance"
)
_NORMAL = ("True",)
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


class NoIncident:
    """The alert says so itself, or what it tells of is not so."""

    name = "no_incident"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return a finding; sure only where the alert is none, or where all was seen well."""
        about = case.named or ObjectRef(kind="Alert", name=case.alert.title)
        if _HEARTBEAT.match(case.alert.title) or case.alert.labels.get("severity") == "none":
            return (_finding(case, about, 0.97, "only proves that alerts arrive"),)
        if _MEANT.search(alert_text(case)):
            return (_finding(case, about, 0.93, "is a notice or a test by its own words"),)
        proof = _well(case) if tells_of(case, Theme.STATE) else ()
        if not proof or _signs(case):
            return ()
        said = "tells of what is not so: all that was seen is well"
        return (_finding(case, about, 0.9, said, proof),)


def _well(case: Case) -> tuple[str, ...]:
    """The evidence that the workload and each of its pods is as it should be; none if it is not."""
    workload = case.object(case.workload) if case.workload else None
    if workload is None or not case.pods or not _is_complete(workload.data):
        return ()
    if not all(_is_ready(pod.data) for pod in case.pods):
        return ()
    return (workload.id, *(pod.id for pod in case.pods))


def _is_complete(workload: Manifest) -> bool:
    if workload.ref.kind not in _WORKLOADS:
        return False
    status = workload.dig("status") or {}
    wanted = workload.dig("spec", "replicas") or status.get("desiredNumberScheduled")
    ready = status.get("readyReplicas") or status.get("numberReady")
    updated = status.get("updatedReplicas", status.get("updatedNumberScheduled", wanted))
    refused = any(one.get("status") == "False" for one in workload.items("status", "conditions"))
    complete = isinstance(wanted, int) and wanted > 0 and wanted == ready == updated
    return complete and not refused


def _is_ready(pod: Manifest) -> bool:
    if pod.dig("status", "phase") == "Succeeded":
        return True
    conditions = pod.items("status", "conditions")
    ready = any(c.get("type") == "Ready" and c.get("status") in _NORMAL for c in conditions)
    restarts = [s.get("restartCount") or 0 for s in pod.items("status", "containerStatuses")]
    return ready and not any(restarts)


def _signs(case: Case) -> bool:
    """Whether anything that was seen speaks of trouble, or something could not be seen."""
    warnings = [event for event in case.events() if event.data.type == "Warning"]
    return bool(warnings or complaints(case) or failed_calls(case) or _checked(case))


def _checked(case: Case) -> bool:
    """A probe that says anything may say more than is understood here."""
    return any(seen.data.command.tool not in ("git", "note") for seen in case.checks)


def _finding(
    case: Case, about: ObjectRef, sure: float, said: str, proof: tuple[str, ...] = ()
) -> Finding:
    return Finding(
        cause=CauseClass.NO_INCIDENT,
        object=about,
        confidence=sure,
        summary=f"Nothing is wrong: {case.alert.title} {said}.",
        evidence=(*alert_ids(case), *proof),
        because="Nothing has to be changed.",
    )
