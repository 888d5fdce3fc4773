"""From the tables of `kubectl get` to objects, as far as their columns say what the API holds."""

import re
from collections.abc import Iterator
from typing import Any

from tocsin_cluster.kinds import CLUSTER_WIDE, kind_of
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.printed import Command
from tocsin_cluster.reading.columns import content, pairs
from tocsin_cluster.reading.sections import NOTHING
from tocsin_cluster.reading.tables import Row, is_header, rows

Raw = dict[str, Any]

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
            yield Manifest({"kind": kind, "metadata": metadata, **content(kind, row)}, whole=False)


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


def _of_storage_class(name: str) -> Raw:
    """The default one is marked behind its name."""
    plain = name.removesuffix(" (default)")
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {"name": plain} | ({"annotations": mark} if plain != name else {})
