"""Init containers that fail, so that a pod never starts its others."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.observation import Observation

_LAST_WORDS = 160
_PROVEN = 0.9
_WAITS = re.compile(
    r"(?i)\bwaiting (?:for|on|until)\b|not (?:ready|available|up) yet|still waiting|retry|sleeping"
)
_COUNT = re.compile(r"\d{1,3}/\d{1,3}")
"""How a table shows a pod of which only some init containers have ended."""


class InitContainer:
    """An init container ended with an error, or it does not end."""

    name = "init_container"
    needs = "The states of the init containers of the pods, and their logs."
    proof = (
        "An init container ended with an error, is in a crash loop, or runs on while its log "
        "says that it waits."
    )
    against = (
        "It was killed for memory, it is a sidecar that is meant to run on, or it runs and does "
        "not say that it waits."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for the first pod in which one fails; its log says why."""
        for pod in (*case.pods, *case.objects("Pod")):
            for status in pod.data.items("status", "initContainerStatuses"):
                if told := _told(status):
                    return (_finding(case, pod, status, *told),)
        return ()


def _told(status: Mapping[str, Any]) -> tuple[str, float] | None:
    ends = [dig(status, state, "terminated") for state in ("state", "lastState")]
    for ended in ends:
        if isinstance(ended, Mapping) and ended.get("reason") == "OOMKilled":
            return None
        if isinstance(ended, Mapping) and ended.get("exitCode") not in (0, None):
            return f"ends with exit code {ended['exitCode']}", 0.93
    waits = dig(status, "state", "waiting", "reason")
    if waits in ("CrashLoopBackOff", "Error", "RunContainerError"):
        return f"is in {waits}", 0.93
    runs = dig(status, "state", "running") is not None or _COUNT.fullmatch(str(waits))
    if runs and _is_setup(status):
        return "has not come to an end", 0.66
    return None


def _is_setup(status: Mapping[str, Any]) -> bool:
    """A sidecar is an init container that runs on, and it has started."""
    return status.get("started") is not True


def _finding(
    case: Case, pod: Observation[Manifest], status: Mapping[str, Any], how: str, confidence: float
) -> Finding:
    who, name = subject(case, pod.data.ref), str(status.get("name") or "")
    logs = tuple(_logs(case, pod, name))
    words = f" Its last words: {logs[0][1]}" if logs else ""
    if confidence < _PROVEN and any(_WAITS.search(line) for _, line in logs):
        confidence = _PROVEN
    return Finding(
        cause=CauseClass.INIT_CONTAINER_FAILURE,
        object=who,
        confidence=sure(case, pod.data.ref, confidence),
        summary=f"Init container {name} of {who} {how}.{words}",
        evidence=proof(case, pod.id, *(seen for seen, _ in logs)),
    )


def _logs(case: Case, pod: Observation[Manifest], name: str) -> Iterator[tuple[str, str]]:
    for log in case.logs:
        if log.data.container == name and log.data.pod in ("", pod.data.ref.name):
            lines = log.data.text.strip().splitlines()
            if lines:
                yield log.id, lines[-1][:_LAST_WORDS]
