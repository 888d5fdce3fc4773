"""From the tables of `kubectl get` to objects, as far as their columns say what the API holds."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from tocsin_cluster.kinds import CLUSTER_WIDE, kind_of
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.printed import Command
from tocsin_cluster.reading.facts import modes, subsets, taints
from tocsin_cluster.reading.numbers import whole
from tocsin_cluster.reading.pods_table import pod
from tocsin_cluster.reading.sections import NOTHING
from tocsin_cluster.reading.tables import Row, is_header, rows

Raw = dict[str, Any]

_PORT = re.compile(r"(?P<port>\d{1,5})(?::(?P<node>\d{1,5}))?/(?P<protocol>\w{1,10})")
_OF_NODES = {
    "ARCH": "kubernetes.io/arch",
    "ARCHITECTURE": "kubernetes.io/arch",
    "OS": "kubernetes.io/os",
    "INSTANCE-TYPE": "node.kubernetes.io/instance-type",
    "ZONE": "topology.kubernetes.io/zone",
    "REGION": "topology.kubernetes.io/region",
}
"""Labels of nodes that columns are called after."""

_SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Event", ("LAST SEEN", "REASON")),
    ("Pod", ("READY", "STATUS", "RESTARTS")),
    ("Pod", ("READY", "STATUS", "LABELS")),
    ("Node", ("STATUS", "ROLES")),
    ("Node", ("TAINTS",)),
    ("Node", ("STATUS", "VERSION")),
    ("CronJob", ("SCHEDULE", "SUSPEND")),
    ("Job", ("COMPLETIONS",)),
    ("DaemonSet", ("DESIRED", "UP-TO-DATE")),
    ("Deployment", ("READY", "UP-TO-DATE")),
    ("ReplicaSet", ("DESIRED", "CURRENT", "READY")),
    ("Service", ("TYPE", "CLUSTER-IP")),
    ("EndpointSlice", ("ADDRESSTYPE", "ENDPOINTS")),
    ("Endpoints", ("ENDPOINTS",)),
    ("HorizontalPodAutoscaler", ("REFERENCE", "TARGETS")),
    ("PersistentVolume", ("CAPACITY", "CLAIM")),
    ("PersistentVolumeClaim", ("STATUS", "VOLUME", "STORAGECLASS")),
    ("StorageClass", ("PROVISIONER",)),
    ("IngressClass", ("CONTROLLER",)),
    ("Ingress", ("HOSTS",)),
    ("NetworkPolicy", ("POD-SELECTOR",)),
    ("PodDisruptionBudget", ("MIN AVAILABLE",)),
    ("ResourceQuota", ("REQUEST", "LIMIT")),
    ("PriorityClass", ("VALUE", "GLOBAL-DEFAULT")),
    ("Application", ("SYNC STATUS",)),
    ("ServiceAccount", ("SECRETS",)),
    ("Secret", ("TYPE", "DATA")),
    ("ConfigMap", ("DATA",)),
    ("StatefulSet", ("READY", "AGE")),
)
"""The kinds, by columns that only their tables have; the first that fits."""


_COLUMNS = {
    "Pod": ("NAME", "READY", "STATUS", "RESTARTS", "AGE"),
    "Service": ("NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"),
    "Deployment": ("NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"),
    "Node": ("NAME", "STATUS", "ROLES", "AGE", "VERSION"),
}


def objects(text: str, command: Command, namespace: str) -> Iterator[Manifest]:
    """Yield an object for each row of a table whose kind can be told. Nothing is raised."""
    for row in rows(_headed(text, command)):
        kind, name = _kind_and_name(row, command)
        if kind and name and kind != "Event" and not _is_measured(row):
            where = row.get("NAMESPACE") or command.namespace or namespace
            metadata: Raw = {"name": name, "labels": _labels(row, command, kind)}
            if kind == "StorageClass":
                metadata |= _of_storage_class(name)
            if kind not in CLUSTER_WIDE:
                metadata["namespace"] = where
            read = _READ.get(kind, _nothing)
            yield Manifest({"kind": kind, "metadata": metadata, **read(row)}, whole=False)


def _headed(text: str, command: Command) -> str:
    """Put the usual columns above rows that a pipe or a flag has left without them."""
    cut = "|" in command.text or "--no-headers" in command.text
    columns = _COLUMNS.get(command.kind, ()) if cut and not command.output else ()
    lines = [line for line in text.splitlines() if line.strip()]
    if not columns or command.verb != "get" or any(map(is_header, lines)):
        return text
    named = ("NAMESPACE", *columns) if command.everywhere else columns
    whole = all(len(re.split(r"\s{2,}|\t", line.strip())) == len(named) for line in lines)
    return "\n".join(("   ".join(named), *lines)) if whole else text


def pairs(cell: str) -> dict[str, str]:
    """Return labels or a selector from `a=1,b=2`."""
    split = (word.partition("=") for word in cell.split(","))
    return {key.strip(): value for key, equals, value in split if equals}


def _labels(row: Row, command: Command, kind: str) -> dict[str, str]:
    """Read the column of all labels, those that `-L` asked for by name, and usual ones of nodes."""
    asked = {key: row.get(key.rpartition("/")[2].upper(), "") for key in command.columns}
    if kind == "Node":
        asked |= {key: row[name] for name, key in _OF_NODES.items() if name in row}
    return pairs(row.get("LABELS", "")) | {k: v for k, v in asked.items() if v not in NOTHING}


def _kind_and_name(row: Row, command: Command) -> tuple[str, str]:
    name = row.get("NAME", "")
    kind, slash, own = name.partition("/")
    if slash:
        return kind_of(kind), own
    sniffed = (kind for kind, columns in _SIGNS if row.keys() >= set(columns))
    return command.kind or next(sniffed, ""), name


def _is_measured(row: Row) -> bool:
    """Whether a row is what `kubectl top` prints: that says nothing of the object itself."""
    return "STATUS" not in row and any(header.startswith("CPU") for header in row)


def _nothing(row: Row) -> Raw:
    del row
    return {}


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


def _of_storage_class(name: str) -> Raw:
    """The default one is marked behind its name."""
    plain = name.removesuffix(" (default)")
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {"name": plain} | ({"annotations": mark} if plain != name else {})


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
