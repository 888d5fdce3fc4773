"""Is what was seen still so?"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import (
    CheckResult,
    CheckSeverity,
    EndReason,
    EvidenceKind,
    FailureCode,
)
from tocsin_validation.checks.verdicts import failed, passed, unknown, untold
from tocsin_validation.ports import Consequence, Proposed

CALM = timedelta(minutes=15)
"""How long no container may have died until a workload counts as well again."""

_BAD = re.compile(
    r"CrashLoopBackOff|ImagePullBackOff|ErrImage|InvalidImageName|CreateContainer\w*Error"
    r"|RunContainerError|OOMKilled|Unschedulable|FailedScheduling|\bPending\b"
)


class SymptomIsPresent:
    """A living workload is looked at again; only one that is plainly well needs no change."""

    name = "symptom-present-now"
    severity = CheckSeverity.MAJOR
    needs = "the pods of the object, in a cluster that is alive"
    consequence = Consequence.NO_CHANGE
    reason = EndReason.ALERT_CLEARED
    code = FailureCode.CLEARED
    action = "see whether the alert clears as well"

    def run(self, change: Proposed) -> CheckResult:
        """Look for what fails in the pods now, where pods showed the symptom."""
        around = change.around
        if around.recorded:
            why = "the cluster is a recording, which cannot tell what is so now"
            return unknown(self.name, why, FailureCode.NOT_RECORDED)
        if around.pods.value is None or around.at is None:
            return untold(self.name, around.pods)
        pods = around.pods.value
        wrong = [why for pod in pods for why in _wrong(pod, around.at)]
        if wrong:
            told = ", ".join(sorted(set(wrong))[:3])
            return passed(self.name, f"{len(wrong)} of {len(pods)} pod(s) fail now: {told}")
        return self._calm(change, len(pods))

    def _calm(self, change: Proposed, pods: int) -> CheckResult:
        if not _shown_by_pods(change):
            why = "pods do not show what was seen; the alert has to tell"
            return unknown(self.name, why, FailureCode.UNSUPPORTED)
        if not pods or not _is_well(change.around.live.value):
            why = "no pod fails now, but not all that is wanted runs"
            return unknown(self.name, why, FailureCode.NOT_FOUND)
        return failed(self.name, f"all {pods} pod(s) run, and none has failed lately")


def _wrong(pod: Manifest, now: datetime) -> Iterator[str]:
    """Yield the first thing that is wrong with a pod."""
    found = [*_waiting(pod), *_died(pod, now)]
    if not found and pod.dig("status", "phase") in ("Pending", "Failed", "Unknown"):
        found = [str(pod.dig("status", "phase"))]
    if not found and not _is_ready(pod):
        found = ["not ready"]
    yield from found[:1]


def _waiting(pod: Manifest) -> Iterator[str]:
    for section in ("containerStatuses", "initContainerStatuses"):
        for status in pod.items("status", section):
            reason = Manifest(status).dig("state", "waiting", "reason")
            if reason and _BAD.search(str(reason)):
                yield str(reason)


def _died(pod: Manifest, now: datetime) -> Iterator[str]:
    for status in pod.items("status", "containerStatuses"):
        for state in ("state", "lastState"):
            ended = Manifest(status).dig(state, "terminated")
            at = _time(ended.get("finishedAt")) if isinstance(ended, dict) else None
            if at and ended.get("exitCode") != 0 and now - at < CALM:
                yield str(ended.get("reason") or "Error")


def _is_ready(pod: Manifest) -> bool:
    if pod.dig("status", "phase") == "Succeeded":
        return True
    conditions = pod.items("status", "conditions")
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _shown_by_pods(change: Proposed) -> bool:
    """Whether the evidence is a state of pods that their status would still show."""
    cited = change.hypothesis.finding.evidence
    return any(
        one.id in cited and one.kind is EvidenceKind.POD and _BAD.search(one.excerpt)
        for one in change.hypothesis.evidence
    )


def _is_well(live: Manifest | None) -> bool:
    if live is None or live.dig("spec", "replicas") is None:
        return False
    wanted = live.dig("spec", "replicas")
    seen = live.dig("status", "observedGeneration") == live.dig("metadata", "generation")
    ready = live.dig("status", "readyReplicas") or 0
    return bool(seen and wanted and ready >= wanted)
