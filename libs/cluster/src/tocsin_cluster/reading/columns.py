"""What the columns of each kind's table say of an object: its spec and its status."""

import re
from collections.abc import Callable
from typing import Any

from tocsin_cluster.reading.facts import modes, subsets, taints
from tocsin_cluster.reading.numbers import whole
from tocsin_cluster.reading.pods_table import pod
from tocsin_cluster.reading.sections import NOTHING
from tocsin_cluster.reading.tables import Row

Raw = dict[str, Any]

_JOB_ENDS = ("Complete", "Failed")
_PORT = re.compile(r"(?P<port>\d{1,5})(?::(?P<node>\d{1,5}))?/(?P<protocol>\w{1,10})")


def content(kind: str, row: Row) -> Raw:
    """Return what a row says of an object; of many kinds it says no more than the name."""
    read = _READ.get(kind)
    return read(row) if read else {}


def pairs(cell: str) -> dict[str, str]:
    """Return labels or a selector from `a=1,b=2`."""
    split = (word.partition("=") for word in cell.split(","))
    return {key.strip(): value for key, equals, value in split if equals}


def _kept(**fields: Any) -> Raw:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def _cell(row: Row, *names: str) -> str:
    found = (row[name] for name in names if name in row)
    return next((cell for cell in found if cell not in NOTHING), "")


def _replicated(row: Row) -> Raw:
    ready, _, wanted = row.get("READY", "").partition("/")
    desired = whole(wanted) if wanted else whole(row.get("DESIRED"))
    spec = _kept(selector=_kept(matchLabels=pairs(_cell(row, "SELECTOR"))))
    names, images = (_cell(row, column).split(",") for column in ("CONTAINERS", "IMAGES"))
    if names != [""] and len(names) == len(images):
        inside = [{"name": n, "image": i} for n, i in zip(names, images, strict=True)]
        spec["template"] = {"spec": {"containers": inside}}
    status = _kept(
        readyReplicas=whole(ready),
        replicas=whole(row.get("CURRENT")) or desired,
        updatedReplicas=whole(row.get("UP-TO-DATE")),
        availableReplicas=whole(row.get("AVAILABLE")),
    )
    return {"spec": spec | ({} if desired is None else {"replicas": desired}), "status": status}


def _daemon_set(row: Row) -> Raw:
    counts = {"DESIRED": "desiredNumberScheduled", "READY": "numberReady"}
    counts |= {"CURRENT": "currentNumberScheduled", "AVAILABLE": "numberAvailable"}
    numbers = {field: whole(row.get(column)) for column, field in counts.items()}
    selector = pairs(_cell(row, "NODE SELECTOR"))
    template = _kept(spec=_kept(nodeSelector=selector))
    return {"spec": _kept(template=template), "status": _kept(**numbers)}


def _job(row: Row) -> Raw:
    """Older tables have no column for the state: there all that was wanted is done, or not."""
    done, _, wanted = _cell(row, "COMPLETIONS").partition("/")
    word = _cell(row, "STATUS") or ("Complete" if done == wanted != "0" else "")
    ended = [{"type": word, "status": "True"}] if word in _JOB_ENDS else []
    status = _kept(succeeded=whole(done), conditions=ended)
    spec = _kept(completions=whole(wanted), suspend=word == "Suspended" or None)
    return _kept(spec=spec, status=status)


def _node(row: Row) -> Raw:
    words = row.get("STATUS", "").split(",")
    ready = {"Ready": "True", "NotReady": "False"}.get(words[0], "Unknown")
    spec: Raw = {"unschedulable": True} if "SchedulingDisabled" in words else {}
    if "TAINTS" in row:
        spec["taints"] = taints(row["TAINTS"].split(","))
    if "STATUS" not in row:
        return {"spec": spec}
    return {"spec": spec, "status": {"conditions": [{"type": "Ready", "status": ready}]}}


def _service(row: Row) -> Raw:
    ports = [
        {"port": int(found["port"]), "protocol": found["protocol"]}
        for found in _PORT.finditer(row.get("PORT(S)", ""))
    ]
    spec = _kept(type=_cell(row, "TYPE"), ports=ports, clusterIP=_cell(row, "CLUSTER-IP"))
    return {"spec": spec | _kept(selector=pairs(_cell(row, "SELECTOR")))}


def _autoscaler(row: Row) -> Raw:
    kind, _, name = row.get("REFERENCE", "").partition("/")
    spec = _kept(minReplicas=whole(row.get("MINPODS")), maxReplicas=whole(row.get("MAXPODS")))
    status = _kept(currentReplicas=whole(row.get("REPLICAS")), targets=_cell(row, "TARGETS"))
    return {"spec": spec | {"scaleTargetRef": {"kind": kind, "name": name}}, "status": status}


def _claim(row: Row) -> Raw:
    capacity = _kept(storage=_cell(row, "CAPACITY"))
    spec = _kept(
        volumeName=_cell(row, "VOLUME"),
        storageClassName=_cell(row, "STORAGECLASS"),
        accessModes=modes(_cell(row, "ACCESS MODES")),
    )
    return {"spec": spec, "status": _kept(phase=_cell(row, "STATUS"), capacity=capacity)}


def _volume(row: Row) -> Raw:
    namespace, _, name = _cell(row, "CLAIM").partition("/")
    spec = _kept(
        capacity=_kept(storage=_cell(row, "CAPACITY")),
        storageClassName=_cell(row, "STORAGECLASS"),
        accessModes=modes(_cell(row, "ACCESS MODES")),
        persistentVolumeReclaimPolicy=_cell(row, "RECLAIM POLICY"),
        claimRef=_kept(namespace=namespace, name=name),
    )
    return {"spec": spec, "status": _kept(phase=_cell(row, "STATUS"))}


def _storage_class(row: Row) -> Raw:
    return _kept(
        provisioner=_cell(row, "PROVISIONER"),
        reclaimPolicy=_cell(row, "RECLAIMPOLICY"),
        volumeBindingMode=_cell(row, "VOLUMEBINDINGMODE"),
        allowVolumeExpansion={"true": True, "false": False}.get(_cell(row, "ALLOWVOLUMEEXPANSION")),
    )


_READ: dict[str, Callable[[Row], Raw]] = {
    "Pod": pod,
    "Deployment": _replicated,
    "StatefulSet": _replicated,
    "ReplicaSet": _replicated,
    "DaemonSet": _daemon_set,
    "Job": _job,
    "Node": _node,
    "Service": _service,
    "Endpoints": lambda row: {"subsets": subsets(row.get("ENDPOINTS", ""))},
    "HorizontalPodAutoscaler": _autoscaler,
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "StorageClass": _storage_class,
    "NetworkPolicy": lambda row: {
        "spec": {"podSelector": {"matchLabels": pairs(_cell(row, "POD-SELECTOR"))}}
    },
    "CronJob": lambda row: {
        "spec": {
            "schedule": row.get("SCHEDULE", ""),
            "suspend": row.get("SUSPEND", "").lower() == "true",
        }
    },
    "Ingress": lambda row: {"spec": _kept(ingressClassName=_cell(row, "CLASS"))},
    "IngressClass": lambda row: {"spec": _kept(controller=_cell(row, "CONTROLLER"))},
    "Secret": lambda row: _kept(type=_cell(row, "TYPE")),
    "Namespace": lambda row: {"status": _kept(phase=_cell(row, "STATUS"))},
    "Application": lambda row: {
        "status": {
            "sync": {"status": _cell(row, "SYNC STATUS")},
            "health": {"status": _cell(row, "HEALTH STATUS")},
        }
    },
}
