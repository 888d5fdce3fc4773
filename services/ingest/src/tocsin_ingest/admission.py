"""Which alerts belong together: identity from labels, never from text, order or severity."""

import hashlib
import re
from collections.abc import Iterable, Mapping

from tocsin_contracts import Alert, Workload

KIND_LABELS = {
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "cronjob": "CronJob",
    "job_name": "Job",
}
LONGEST_NAME = 253
"""Characters of a name in Kubernetes; what is longer names nothing there."""

_SCHEDULED_POD = re.compile(r"^(?P<name>.+)-\d{8,10}-[a-z0-9]{5}$")
_HASHED_POD = re.compile(
    r"^(?P<name>.+)-(?:[bcdfghjklmnpqrstvwxz2456789]{8,10}|[a-f0-9]{8,10})-[a-z0-9]{5}$"
)
_ORDINAL_POD = re.compile(r"^(?P<name>.+)-\d+$")
_SUFFIXED_POD = re.compile(r"^(?P<name>.+)-[bcdfghjklmnpqrstvwxz2456789]{5}$")
_SHAPES = (
    (_SCHEDULED_POD, "CronJob"),
    (_HASHED_POD, "Deployment"),
    (_ORDINAL_POD, "StatefulSet"),
    (_SUFFIXED_POD, ""),
)


def fingerprint(source: str, labels: Mapping[str, str], ignored: Iterable[str]) -> str:
    """Return the identity of an alert: same labels, same alert, whichever replica sent it."""
    skipped = frozenset(ignored)
    digest = hashlib.sha256(source.encode())
    for name in sorted(labels):
        if name not in skipped:
            digest.update(b"\x00" + name.encode() + b"\x01" + labels[name].encode())
    return digest.hexdigest()[:16]


def workload(labels: Mapping[str, str]) -> Workload | None:
    """Return what the labels are about; pod names are read only where no label says it better."""
    namespace = labels.get("exported_namespace") or labels.get("namespace", "")
    if not namespace:
        return None
    kind, name = _kind_and_name(labels)
    cluster = labels.get("cluster", "")
    container = labels.get("exported_container") or labels.get("container", "")
    if not name or max(map(len, (cluster, namespace, name, container))) > LONGEST_NAME:
        return None
    return Workload(cluster=cluster, namespace=namespace, name=name, kind=kind, container=container)


def incident_key(alert: Alert) -> str:
    """Return what alerts of one incident have in common.

    Alerts about one workload are one incident, whatever each of them complains about; an alert
    without a workload is its own.
    """
    if alert.workload:
        at = alert.workload
        return f"workload|{at.cluster}|{at.namespace}|{at.name}"
    place = f"{alert.source}/{alert.instance}" if alert.instance else alert.source
    return f"alert|{place}|{alert.fingerprint}"


def _kind_and_name(labels: Mapping[str, str]) -> tuple[str, str]:
    for label, kind in KIND_LABELS.items():
        if name := labels.get(label):
            return kind, name
    if name := labels.get("workload"):
        return "", name
    if pod := labels.get("exported_pod") or labels.get("pod"):
        return _owner_by_name(pod)
    return ("Service", labels["service"]) if labels.get("service") else ("", "")


def _owner_by_name(pod: str) -> tuple[str, str]:
    for pattern, kind in _SHAPES:
        if found := pattern.match(pod):
            return kind, found["name"]
    return "Pod", pod
