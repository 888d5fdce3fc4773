"""What is as it is meant to be, though an alert tells of it: by design, on purpose, left over."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import AlertStatus, ObjectRef, Severity
from tocsin_rca.evidence.alerted import alert_text
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.complaints import complaints
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.wellness import is_calm, is_complete

_WAITS = "WaitForFirstConsumer"
_FOR_GOOD = re.compile(
    r"(?i)\b(?:park|retire|decommission|sunset|shut ?down|remove|closed?\b|not needed|unused)"
)
_UNCALLED = re.compile(r"(?i)\bno (?:callers?|consumers?|dependents?|clients?|traffic)\b")
_OF_LINES = re.compile(
    r"(?i)log ?(?:lines?|errors?|messages?)\b|lines? (?:of|in) .{0,80}(?:contain|match|with)"
)
_QUIET = re.compile(
    r"(?i)\b(?:level|lvl|severity)[\"']?[=:]\s?[\"']?(?:info|debug|trace|notice)\b"
    r"|^\S{0,40}\s{0,4}\[?(?:INFO|DEBUG|TRACE|NOTICE)\b"
)
_RENEWED = re.compile(r"Certificate is up to date and has not expired")
_OVER = ("Failed", "Succeeded")
_ENDED = ("Evicted", "Completed", "Shutdown", "NodeShutdown", "Terminated", "NodeAffinity")
_LONGEST = 20_000


def meant_to_be(case: Case) -> tuple[str, ...]:
    """Return the evidence that what the alert tells of is no fault; else nothing."""
    ways = (_waits_for_a_pod, _is_parked, _is_left_over, _is_quiet, _is_no_more_than_a_notice)
    return next((proof for way in ways if (proof := way(case))), ())


def is_parked(case: Case, ref: ObjectRef) -> tuple[str, ...]:
    """Return what shows that a workload is scaled to nothing on purpose; else nothing.

    A commit says that it is not wanted any more, and somebody looked and found no caller.
    """
    undone = case.last_change(ref, ("spec", "replicas"), 0)
    if undone is None or not _FOR_GOOD.search(undone.seen.data.subject):
        return ()
    found = [one.id for one in case.checks if _UNCALLED.search(one.data.text[:_LONGEST])]
    return (undone.seen.id, *found) if found else ()


def is_renewed(case: Case) -> tuple[str, ...]:
    """Return where cert-manager says that a certificate is good, of an alert that is over."""
    if case.alert.status is not AlertStatus.RESOLVED:
        return ()
    return tuple(seen.id for seen in case.texts() if _RENEWED.search(seen.data.text[:_LONGEST]))


def _waits_for_a_pod(case: Case) -> tuple[str, ...]:
    """A claim of a class that binds late, and nobody who uses it."""
    named = case.named
    if named is None or named.kind != "PersistentVolumeClaim":
        return ()
    events = case.events(named)
    used = any(_mounts(pod.data, named.name) for pod in (*case.pods, *case.objects("Pod")))
    waits = bool(events) and all(event.data.reason == _WAITS for event in events)
    return tuple(event.id for event in events) if waits and not used else ()


def _is_parked(case: Case) -> tuple[str, ...]:
    seen = case.workload_manifest
    if case.workload is None or seen is None or seen.data.dig("spec", "replicas") != 0:
        return ()
    proof = is_parked(case, case.workload)
    return (seen.id, *proof) if proof else ()


def _is_left_over(case: Case) -> tuple[str, ...]:
    """A pod that has ended, of a workload that is complete without it."""
    named = case.named
    pod = case.object(named) if named and named.kind == "Pod" else None
    if pod is None or named is None or not _has_ended(pod.data):
        return ()
    for kind in ("Deployment", "StatefulSet", "DaemonSet"):
        for seen in case.objects(kind, named.namespace):
            if named.name.startswith(f"{seen.data.ref.name}-") and is_complete(seen.data):
                return (pod.id, seen.id) if _is_alone(case, seen) else ()
    return ()


def _is_alone(case: Case, owner: Observation[Manifest]) -> bool:
    """Whether every pod of that name that has not ended is ready."""
    near = case.objects("Pod", owner.data.ref.namespace)
    alive = [
        one.data
        for one in near
        if one.data.ref.name.startswith(f"{owner.data.ref.name}-") and not _has_ended(one.data)
    ]
    return bool(alive) and all(_says_ready(pod) for pod in alive)


def _is_quiet(case: Case) -> tuple[str, ...]:
    """An alert that counts lines with a word or is over, where every line that was seen is calm."""
    logs = [seen for seen in case.logs if seen.data.text.strip()]
    asked = _OF_LINES.search(alert_text(case)) or case.alert.status is AlertStatus.RESOLVED
    if not logs or not asked or complaints(case):
        return ()
    lines = [line for seen in logs for line in seen.data.text[:_LONGEST].splitlines()]
    calm = all(_QUIET.search(line) for line in lines if line.strip())
    ready = all(_says_ready(pod.data) for pod in (*case.pods, *case.objects("Pod")))
    return tuple(seen.id for seen in logs) if calm and ready else ()


def _is_no_more_than_a_notice(case: Case) -> tuple[str, ...]:
    """Only for information; its pods are ready, and who looked found nothing."""
    checks = tuple(_looked(case))
    if case.alert.severity is not Severity.INFO or not checks or not case.pods:
        return ()
    ready = all(_says_ready(pod.data) for pod in case.pods)
    calm = all(is_calm(seen.data) for seen in case.checks)
    return (*(pod.id for pod in case.pods), *checks) if ready and calm else ()


def _looked(case: Case) -> Iterator[str]:
    return (seen.id for seen in case.checks if seen.data.text.strip())


def _mounts(pod: Manifest, claim: str) -> bool:
    volumes = pod.items("spec", "volumes")
    return any(
        (one.get("persistentVolumeClaim") or {}).get("claimName") == claim for one in volumes
    )


def _has_ended(pod: Manifest) -> bool:
    phase, reason = str(pod.dig("status", "phase")), str(pod.dig("status", "reason"))
    return phase in _OVER or reason in _ENDED or phase in _ENDED


def _says_ready(pod: Manifest) -> bool:
    statuses = pod.items("status", "containerStatuses")
    told = [c for c in pod.items("status", "conditions") if c.get("type") == "Ready"]
    ready = all(one.get("ready") is True for one in statuses)
    return _has_ended(pod) or (
        ready and bool(statuses or told) and all(str(one.get("status")) == "True" for one in told)
    )
