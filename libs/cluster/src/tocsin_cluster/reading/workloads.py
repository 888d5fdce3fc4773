"""Pods and what runs them, from the sections of their descriptions."""

import re
from typing import Any

from tocsin_cluster.reading import containers
from tocsin_cluster.reading.sections import Sections, table

Raw = dict[str, Any]

_REPLICAS = re.compile(r"(?P<number>\d{1,9}) (?P<what>\w{1,20})")
_STATUS = {
    "updated": "updatedReplicas",
    "total": "replicas",
    "current": "replicas",
    "available": "availableReplicas",
    "unavailable": "unavailableReplicas",
}


def pod(said: Sections) -> Raw:
    """Return spec and status of a pod."""
    status: Raw = {"phase": said.text("Status").partition(" ")[0]}
    status |= {
        field: said.text(key)
        for key, field in (("Reason", "reason"), ("Message", "message"), ("QoS Class", "qosClass"))
        if said.text(key)
    }
    status["conditions"] = conditions(said)
    status["containerStatuses"] = containers.statuses(said.get("Containers")) or _only(said)
    status["initContainerStatuses"] = containers.statuses(said.get("Init Containers"))
    spec = pod_spec(said)
    if node := said.text("Node").partition("/")[0]:
        spec["nodeName"] = node
    return {"spec": spec, "status": status}


def _only(said: Sections) -> list[Raw]:
    """Return the state of a container whose name was cut off."""
    return [containers.status("", said)] if said.has("Last State") or said.has("State") else []


def pod_spec(said: Sections) -> Raw:
    """Return what pods and pod templates have in common."""
    spec: Raw = {
        "containers": containers.containers(said.get("Containers")),
        "volumes": containers.volumes(said.get("Volumes")),
        "nodeSelector": said.get("Node-Selectors").pairs(),
    }
    if setup := containers.containers(said.get("Init Containers")):
        spec["initContainers"] = setup
    if account := said.text("Service Account"):
        spec["serviceAccountName"] = account
    if priority := said.text("Priority Class Name"):
        spec["priorityClassName"] = priority
    return spec


def replicated(said: Sections) -> Raw:
    """Return spec and status of a Deployment, ReplicaSet or StatefulSet."""
    counts = {m["what"]: int(m["number"]) for m in _REPLICAS.finditer(said.text("Replicas"))}
    spec: Raw = {"selector": {"matchLabels": _selector(said)}, "template": _template(said)}
    if "desired" in counts:
        spec["replicas"] = counts["desired"]
    status: Raw = {_STATUS[what]: n for what, n in counts.items() if what in _STATUS}
    status["conditions"] = conditions(said)
    return {"spec": spec, "status": status}


def daemon_set(said: Sections) -> Raw:
    """Return spec and status of a DaemonSet."""
    fields = {
        "Desired Number of Nodes Scheduled": "desiredNumberScheduled",
        "Current Number of Nodes Scheduled": "currentNumberScheduled",
        "Number of Nodes Scheduled with Available Pods": "numberAvailable",
        "Number of Nodes Misscheduled": "numberMisscheduled",
    }
    spec: Raw = {"selector": {"matchLabels": _selector(said)}, "template": _template(said)}
    numbers = {field: said.number(key) for key, field in fields.items()}
    return {"spec": spec, "status": {k: n for k, n in numbers.items() if n is not None}}


def job(said: Sections) -> Raw:
    """Return spec and status of a Job."""
    counts = re.findall(r"(\d{1,9}) (Active|Succeeded|Failed)", said.text("Pods Statuses"))
    status: Raw = {what.lower(): int(number) for number, what in counts}
    done = [{"type": "Complete", "status": "True"}] if said.text("Completed At") else []
    return {"spec": _job_spec(said), "status": status | {"conditions": conditions(said) or done}}


def cron_job(said: Sections) -> Raw:
    """Return the spec of a CronJob."""
    spec: Raw = {
        "schedule": said.text("Schedule"),
        "concurrencyPolicy": said.text("Concurrency Policy"),
        "suspend": said.text("Suspend").lower() == "true",
        "jobTemplate": {"spec": _job_spec(said)},
    }
    return {"spec": spec}


def conditions(said: Sections) -> list[Raw]:
    """Return the conditions below `Conditions`; the columns differ by kind."""
    lines = said.get("Conditions").lines
    rows = [cells for cells in table(lines) if cells[0] != "Type"]
    has_times = any("LastHeartbeatTime" in line for line in lines)
    return [_condition(cells, has_times=has_times) for cells in rows if len(cells) > 1]


def _condition(cells: list[str], *, has_times: bool) -> Raw:
    kind, status, *rest = cells
    if has_times:
        rest = rest[2:]
    reason, message = (*rest, "", "")[:2]
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _job_spec(said: Sections) -> Raw:
    fields = {
        "Parallelism": "parallelism",
        "Completions": "completions",
        "Backoff Limit": "backoffLimit",
        "Active Deadline Seconds": "activeDeadlineSeconds",
    }
    numbers = {field: said.number(key) for key, field in fields.items()}
    return {"template": _template(said)} | {k: n for k, n in numbers.items() if n is not None}


def _template(said: Sections) -> Raw:
    inside = said.get("Pod Template").inner()
    labels = inside.get("Labels").pairs()
    return {"metadata": {"labels": labels}, "spec": pod_spec(inside)}


def _selector(said: Sections) -> dict[str, str]:
    pairs = (word.partition("=") for word in said.text("Selector").split(","))
    return {key: value for key, equals, value in pairs if equals}
