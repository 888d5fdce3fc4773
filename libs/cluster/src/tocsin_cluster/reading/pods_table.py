"""Pods as `kubectl get pods` shows them: one word stands for all of their status."""

import re
from typing import Any

from tocsin_cluster.reading.numbers import leading
from tocsin_cluster.reading.sections import NOTHING
from tocsin_cluster.reading.tables import Row

Raw = dict[str, Any]

_SHARE = re.compile(r"(?P<ready>\d{1,6})/(?P<all>\d{1,6})")
_PHASES = {
    "Running": "Running",
    "Pending": "Pending",
    "Completed": "Succeeded",
    "Succeeded": "Succeeded",
    "Error": "Failed",
    "Failed": "Failed",
    "Evicted": "Failed",
    "Unknown": "Unknown",
    "Terminating": "Running",
}
_ENDED = {"Completed": 0, "Error": 1, "OOMKilled": 137}
"""Words that are the reason of an ending, with the exit code that is usual for it."""


def pod(row: Row) -> Raw:
    """Return spec and status of a pod.

    A container has no name here. The only one of a pod is known to fare as the pod does; of several
    nothing is said.
    """
    word, share = row.get("STATUS", ""), _SHARE.match(row.get("READY", ""))
    spec: Raw = {"nodeName": row["NODE"]} if row.get("NODE", "") not in NOTHING else {}
    if not word:
        return {"spec": spec}
    status: Raw = {"phase": _PHASES.get(word, "Pending" if _waits_first(word) else "Running")}
    if word not in _PHASES or word == "Evicted":
        status["reason"] = word
    if share is None:
        return {"spec": spec, "status": status}
    ready = share["ready"] == share["all"] != "0"
    status["conditions"] = [{"type": "Ready", "status": "True" if ready else "False"}]
    if word.startswith("Init:"):
        status["initContainerStatuses"] = [_container(row, word.removeprefix("Init:"), ready=False)]
    elif share["all"] == "1" and word not in ("Evicted", "Pending", "Unknown"):
        status["containerStatuses"] = [_container(row, word, ready=ready)]
    return {"spec": spec, "status": status}


def _container(row: Row, word: str, *, ready: bool) -> Raw:
    restarts = leading(row.get("RESTARTS", "")) or 0
    made: Raw = {"name": "", "ready": ready, "restartCount": restarts}
    if word in _ENDED:
        return made | {"state": {"terminated": {"reason": word, "exitCode": _ENDED[word]}}}
    if word in ("Running", "Terminating"):
        return made | {"state": {"running": {}}}
    return made | {"state": {"waiting": {"reason": word}}}


def _waits_first(word: str) -> bool:
    """Whether a container with that word has not run yet, as far as the word says."""
    return "Image" in word or word.startswith(("Container", "CreateContainer", "Init:", "Pod"))
