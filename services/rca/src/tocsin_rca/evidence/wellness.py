"""Whether what an alert is about was seen to be well, by positive proof and nothing less."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.printed import Printed
from tocsin_contracts import AlertStatus
from tocsin_rca.evidence.alerted import Theme, alert_text, tells_of
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import Observation

_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
_GOOD = {"Node": "Ready", "Job": "Complete", "Certificate": "Ready"}
_IN_QUESTION = {
    "Node": re.compile(r"(?i)\bnot ?ready|notready|unreachable"),
    "Job": re.compile(r"(?i)not ?completed|job ?failed|has not completed"),
}
_NO_PROBES = ("git", "note", "argocd")
_FEW = 3
_RESTARTS = re.compile(r"(?i)crash|restart|back-?off")
_LONGEST = 20_000
_SYNCED = re.compile(r"(?mi)^Sync Status:\s{1,20}Synced\b")
_HEALTHY = re.compile(r"(?mi)^Health Status:\s{1,20}Healthy\b")
_CALM = re.compile(
    r"(?i)\bnormal\b|\b200 OK\b|no anomal|\b0 errors\b|\bhealthy\b|\bsteady\b|succe(?:ss|eded)"
    r"|\breachable\b|\bno (?:errors|issues)\b"
)
_NOT_CALM = re.compile(r"(?i)refused|time[d-]? ?out|unhealthy|unreachable|\b5\d\d\b|fail|not found")


def is_over(case: Case) -> bool:
    """Whether the alert itself says that it is over."""
    return case.alert.status is AlertStatus.RESOLVED


def proof_of_health(case: Case) -> tuple[str, ...]:
    """Return the evidence that what the alert is about is as it should be; else nothing."""
    well = _of_workload(case) or _of_pods(case) or _as_it_should(case)
    return well or (_of_others(case) if is_over(case) else ())


def is_calm(one: Printed) -> bool:
    """Whether every line of a check says in so many words that nothing is wrong."""
    rows = [row for row in one.text[:_LONGEST].splitlines() if row.strip()]
    return all(_CALM.search(row) and not _NOT_CALM.search(row) for row in rows)


def _of_workload(case: Case) -> tuple[str, ...]:
    """All replicas are ready and of the newest kind; then pods that failed are left-overs."""
    workload = case.object(case.workload) if case.workload else None
    if workload is None or not is_complete(workload.data) or not _leads_somewhere(case):
        return ()
    present = [pod for pod in _pods(case) if pod.data.dig("status", "phase") != "Failed"]
    if not all(_is_ready(pod.data, restarts=_few(case)) for pod in present):
        return ()
    return (workload.id, *(pod.id for pod in present))


def _of_pods(case: Case) -> tuple[str, ...]:
    """As many pods as are wanted were seen, and each is ready, or has done its work."""
    pods, workload = _pods(case), case.object(case.workload) if case.workload else None
    if workload and workload.data.dig("status") and not _may_be_well(workload.data):
        return ()
    if not pods or not all(_is_ready(pod.data, restarts=_few(case)) for pod in pods):
        return ()
    left = [pod for pod in pods if not _is_done(pod.data)]
    if (left and len(left) < _wanted(case)) or not _leads_somewhere(case):
        return ()
    return tuple(pod.id for pod in pods)


def _of_others(case: Case) -> tuple[str, ...]:
    """Return what shows that it went well in the end: a condition, a last event, a report."""
    named = case.object(case.named) if case.named else None
    wanted = _GOOD.get(named.data.ref.kind) if named else None
    if named and wanted and _is_true(named.data, wanted):
        return (named.id,)
    if named and named.data.ref.kind == "HorizontalPodAutoscaler" and _has_room(named.data):
        return (named.id,)
    done = [pod.id for pod in case.pods if _is_done(pod.data)]
    if case.workload and case.workload.kind == "Job" and done:
        return tuple(done)
    told = case.events(case.named) if case.named else ()
    untold = not any(pod.data.items("status", "containerStatuses") for pod in case.pods)
    if case.named and case.named.kind == "Pod" and untold and told:
        return (told[-1].id,) if told[-1].data.reason == "Started" else ()
    return tuple(_reports(case))[:1]


def _as_it_should(case: Case) -> tuple[str, ...]:
    """Return what shows that a node is ready, or a Job done, where just that is in question."""
    named = case.object(case.named) if case.named else None
    asked = _IN_QUESTION.get(named.data.ref.kind) if named else None
    if named is None or asked is None or not asked.search(alert_text(case)):
        return ()
    closed = named.data.dig("spec", "unschedulable") or named.data.dig("spec", "taints")
    wanted = _GOOD[named.data.ref.kind]
    gone = sum(e.data.count for e in case.events(case.named) if e.data.reason == "NodeNotReady")
    well = _is_true(named.data, wanted) and not closed and gone <= 1
    return (named.id,) if well else ()


def _has_room(autoscaler: Manifest) -> bool:
    now, most = autoscaler.dig("status", "currentReplicas"), autoscaler.dig("spec", "maxReplicas")
    return isinstance(now, int) and isinstance(most, int) and now < most


def _reports(case: Case) -> Iterator[str]:
    for seen in case.checks:
        text = seen.data.text[:_LONGEST]
        if _SYNCED.search(text) and _HEALTHY.search(text):
            yield seen.id
    probed = [seen for seen in case.checks if seen.data.command.tool not in _NO_PROBES]
    if probed and all(is_calm(seen.data) for seen in probed):
        yield from (seen.id for seen in probed)


def _pods(case: Case) -> tuple[Observation[Manifest], ...]:
    """The workload's pods; where it is not known, those that are called like it."""
    told = case.alert.workload
    if case.pods or told is None:
        return case.pods
    near = case.objects("Pod", told.namespace)
    return tuple(pod for pod in near if pod.data.ref.name.startswith(f"{told.name}-"))


def _few(case: Case) -> int:
    """Restarts are of the past where it is over, or where the alert is not about them."""
    of_state = tells_of(case, Theme.STATE) and not _RESTARTS.search(alert_text(case))
    return _FEW if is_over(case) or of_state else 0


def _wanted(case: Case) -> int:
    seen = case.workload_manifest
    replicas = seen.data.dig("spec", "replicas") if seen else None
    return replicas if isinstance(replicas, int) and replicas > 0 else 1


def _may_be_well(workload: Manifest) -> bool:
    return workload.ref.kind not in _WORKLOADS or is_complete(workload)


def is_complete(workload: Manifest) -> bool:
    """Whether all replicas that are wanted are ready and of the newest kind."""
    if workload.ref.kind not in _WORKLOADS:
        return False
    status = workload.dig("status") or {}
    wanted = workload.dig("spec", "replicas") or status.get("desiredNumberScheduled")
    ready = status.get("readyReplicas") or status.get("numberReady")
    updated = status.get("updatedReplicas", status.get("updatedNumberScheduled", wanted))
    refused = any(one.get("status") == "False" for one in workload.items("status", "conditions"))
    complete = isinstance(wanted, int) and wanted > 0 and wanted == ready == updated
    return complete and not refused


def _is_ready(pod: Manifest, *, restarts: int) -> bool:
    if _is_done(pod):
        return True
    statuses = pod.items("status", "containerStatuses")
    runs = pod.dig("status", "phase") in (None, "", "Running")
    ready = bool(statuses) and all(s.get("ready") is True for s in statuses)
    few = sum(int(s.get("restartCount") or 0) for s in statuses) <= restarts
    return bool(runs and ready and few) and _is_true(pod, "Ready", unsaid=True)


def _is_done(pod: Manifest) -> bool:
    return str(pod.dig("status", "phase")) == "Succeeded"


def _is_true(one: Manifest, condition: str, *, unsaid: bool = False) -> bool:
    found = [
        c.get("status") for c in one.items("status", "conditions") if c.get("type") == condition
    ]
    return str(found[0]) == "True" if found else unsaid


def _leads_somewhere(case: Case) -> bool:
    """Whether a Service that the alert names selects pods or has addresses."""
    if case.named is None or case.named.kind != "Service":
        return True
    own = [one for one in case.services if one.data.manifest.ref == case.named]
    return any(one.data.selects for one in own) or any(_addresses(case, case.named.name))


def _addresses(case: Case, name: str) -> Iterator[bool]:
    for one in case.objects("Endpoints"):
        if one.data.ref.name == name:
            yield any(subset.get("addresses") for subset in one.data.items("subsets"))
