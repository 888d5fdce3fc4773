"""Which alerts are the same, and which belong together: never by their text, order or severity."""

import hashlib
import re
from collections.abc import Iterable, Mapping

from tocsin_contracts import Alert, Workload
from tocsin_ingest.marks import Marks

KIND_LABELS = {
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "cronjob": "CronJob",
    "job_name": "Job",
}
NAME_LABEL = "alertname"
SOURCE, OWN = "source", "sender's key"
"""Parts of an incident that are no labels."""

_LABEL = "label "
"""Before a label that is called as one of those."""

LONGEST_NAME = 253
"""Characters of a name in Kubernetes; what is longer names nothing there."""

_SCHEDULED_JOB = re.compile(r"^(?P<name>.+)-\d{8,10}$")
_SCHEDULED_POD = re.compile(r"^(?P<name>.+)-\d{8,10}-[a-z0-9]{5}$")
_HASHED_POD = re.compile(
    r"^(?P<name>.+)-(?:[bcdfghjklmnpqrstvwxz2456789]{8,10}|[a-f0-9]{8,10})-[a-z0-9]{5}$"
)
_ORDINAL_POD = re.compile(r"^(?P<name>.+)-\d+$")
_SUFFIXED_POD = re.compile(r"^(?P<name>.+)-[bcdfghjklmnpqrstvwxz2456789]{5}$")
_EXPORTER = re.compile(r"(?:exporter|kube-state-metrics)$")
_SHAPES = (
    (_SCHEDULED_POD, "CronJob"),
    (_HASHED_POD, "Deployment"),
    (_ORDINAL_POD, "StatefulSet"),
    (_SUFFIXED_POD, ""),
)


def fingerprint(source: str, labels: Mapping[str, str], ignored: Iterable[str]) -> str:
    """Return the identity of an alert: same labels, same alert, whichever replica sent it."""
    skipped = frozenset(ignored)
    parts = [f"\x00{name}\x01{labels[name]}" for name in sorted(labels) if name not in skipped]
    return hashlib.sha256("".join((source, *parts)).encode()).hexdigest()[:16]


def workload(labels: Mapping[str, str]) -> Workload | None:
    """Return what the labels are about; pod names are read only where no label says it better.

    What an exporter measures is not the exporter: its own pod is none of the alert's business.
    """
    namespace = labels.get("exported_namespace") or labels.get("namespace", "")
    if not namespace:
        return None
    kind, name = _kind_and_name(labels)
    cluster = labels.get("cluster", "")
    container = labels.get("exported_container") or labels.get("container", "")
    if (
        not name
        or _is_exporter(name, labels)
        or max(map(len, (cluster, namespace, name, container))) > LONGEST_NAME
    ):
        return None
    return Workload(cluster=cluster, namespace=namespace, name=name, kind=kind, container=container)


def incident(
    source: str, labels: Mapping[str, str], about: Workload | None, marks: Marks, own: str = ""
) -> dict[str, str]:
    """Return what alerts of one incident have in common, by name.

    Alerts about one workload are one incident, whatever each of them complains about. Others are
    one if they have one name and place; without a name it takes every label that lasts. `own` is
    what the sender itself calls the alert, for alerts that no label names.
    """
    if about:
        return of_workload(about)
    if labels.get(NAME_LABEL):
        lasting = [name for name in marks.places if name not in marks.passing]
        if _job(labels).endswith("exporter"):
            lasting.append("instance")  # the machine that it measures, not a replica of a service
        common = dict.fromkeys((NAME_LABEL, *lasting))
        found = {name: labels[name] for name in common if labels.get(name)}
    elif own:
        return of_sender(source, {}, own)
    else:
        found = {n: labels[n] for n in sorted(labels) if n not in marks.passing} or dict(labels)
    return of_sender(source, found)


def of_sender(source: str, labels: Mapping[str, str], own: str = "") -> dict[str, str]:
    """Return what alerts of one sender have in common; no label says in its place who sent them."""
    said = {SOURCE: source, OWN: own} if own else {SOURCE: source}
    odd = {name for name in labels if name in (SOURCE, OWN) or name.startswith(_LABEL)}
    return said | {_LABEL + name if name in odd else name: text for name, text in labels.items()}


def label_of(part: str) -> str:
    """Return which label a part of an incident is; of what is none, nothing."""
    return "" if part in (SOURCE, OWN) else part.removeprefix(_LABEL)


def of_workload(about: Workload) -> dict[str, str]:
    """Return what alerts about one workload have in common; its kind is often not known."""
    parts = {"cluster": about.cluster, "namespace": about.namespace, "workload": about.name}
    return {name: text for name, text in parts.items() if text}


def incident_key(alert: Alert) -> str:
    """Return the key of the incident that an alert belongs to."""
    if alert.incident:
        return alert.incident.key
    if alert.workload:
        return key_of(of_workload(alert.workload))
    place = f"{alert.source}/{alert.instance}" if alert.instance else alert.source
    return f"alert|{place}|{alert.fingerprint}"


def key_of(parts: Mapping[str, str]) -> str:
    """Return the key that stands for the parts of an incident."""
    if SOURCE in parts:
        return f"alert|{parts[SOURCE]}|{fingerprint('', parts, ())}"
    named = (parts.get(name, "") for name in ("cluster", "namespace", "workload"))
    return "|".join(("workload", *map(_escaped, named)))


def _escaped(part: str) -> str:
    """Names in Kubernetes need no escape; a label can hold anything, and must not look like two."""
    return part.replace("\\", "\\\\").replace("|", "\\|")


def _job(labels: Mapping[str, str]) -> str:
    return labels.get("job", "").rsplit("/", 1)[-1]


def _is_exporter(name: str, labels: Mapping[str, str]) -> bool:
    """Whether a workload is what an alert was scraped from, and tells of others."""
    job = _job(labels)
    return bool(job and name.endswith(job) and _EXPORTER.search(name))


def _kind_and_name(labels: Mapping[str, str]) -> tuple[str, str]:
    for label, kind in KIND_LABELS.items():
        if name := labels.get(label):
            scheduled = _SCHEDULED_JOB.match(name) if kind == "Job" else None
            return ("CronJob", scheduled["name"]) if scheduled else (kind, name)
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
