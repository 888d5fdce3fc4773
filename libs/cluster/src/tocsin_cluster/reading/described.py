"""From what `kubectl describe` prints to an object, as far as its words say what the API held."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.kinds import CLUSTER_WIDE
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.printed import Printed
from tocsin_cluster.reading import ages, facts, policies, workloads
from tocsin_cluster.reading.sections import Section, Sections, table
from tocsin_contracts import ObjectRef

Raw = dict[str, Any]

_START = re.compile(r"^Name:", re.MULTILINE)
_EVENT = re.compile(r"\s*(?:Normal|Warning)\s+[A-Z]\w{2,60}\s")
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")
_AGE = re.compile(r"(?:\d{1,5}[smhdy]){1,3}\b|\.{3}$")
_SOURCE = re.compile(r"[\w./{}\[\]-]{1,100}(?:, \S{1,253})?")
_COLUMNS = len(("type", "reason", "age", "from", "message"))
_FEWEST = 3
_SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("CronJob", ("Schedule", "Concurrency Policy")),
    ("Job", ("Parallelism", "Pods Statuses")),
    ("Deployment", ("StrategyType", "Pod Template")),
    ("DaemonSet", ("Desired Number of Nodes Scheduled",)),
    ("StatefulSet", ("Update Strategy", "Pod Template")),
    ("ReplicaSet", ("Replicas", "Pods Status", "Pod Template")),
    ("Pod", ("Node", "Containers")),
    ("Node", ("Capacity", "Allocatable")),
    ("HorizontalPodAutoscaler", ("Reference", "Metrics")),
    ("PersistentVolume", ("Claim", "Reclaim Policy")),
    ("PersistentVolumeClaim", ("StorageClass", "Access Modes")),
    ("StorageClass", ("Provisioner", "VolumeBindingMode")),
    ("Endpoints", ("Subsets",)),
    ("Ingress", ("Rules", "Default backend")),
    ("Service", ("Selector", "TargetPort")),
    ("PersistentVolumeClaim", ("StorageClass", "Used By")),
    ("Ingress", ("Rules", "Address")),
    ("Job", ("Pods Statuses",)),
    ("NetworkPolicy", ("Spec",)),
    ("PodDisruptionBudget", ("Allowed disruptions",)),
)
_TABLES = (
    ("ResourceQuota", re.compile(r"^Resource\s+Used\s+Hard", re.MULTILINE)),
    ("LimitRange", re.compile(r"^Type\s+Resource\s+Min", re.MULTILINE)),
)
"""The kinds, by what only their descriptions say; the first that fits."""

_DATA = re.compile(r"^Data\n={2,10}\n", re.MULTILINE)
_KEY = re.compile(r"^([-.\w]{1,253}): {1,20}\d{1,9} bytes$", re.MULTILINE)

_READ: dict[str, Callable[[Sections], Raw]] = {
    "Pod": workloads.pod,
    "Deployment": workloads.replicated,
    "ReplicaSet": workloads.replicated,
    "StatefulSet": workloads.replicated,
    "DaemonSet": workloads.daemon_set,
    "Job": workloads.job,
    "CronJob": workloads.cron_job,
    "Service": facts.service,
    "PersistentVolumeClaim": facts.claim,
    "PersistentVolume": facts.volume,
    "HorizontalPodAutoscaler": facts.autoscaler,
    "Node": facts.node,
    "Ingress": facts.ingress,
    "PodDisruptionBudget": facts.budget,
    "ResourceQuota": facts.quota,
    "NetworkPolicy": policies.policy,
}


def described(
    printed: Printed, namespace: str
) -> Iterator[tuple[Manifest, tuple[ClusterEvent, ...]]]:
    """Yield each object that a text describes, with the events below it; nothing is raised."""
    where = printed.command.namespace or namespace
    starts = [found.start() for found in _START.finditer(printed.text)]
    if not starts:
        yield from _nameless(printed, where)
    for start, end in pairwise((*starts, len(printed.text))):
        text = printed.text[start:end]
        said = Sections(text.splitlines())
        kind = printed.command.kind or _kind(said, text)
        name = said.text("Name")
        if kind and name:
            manifest = Manifest(_object(kind, name, said, where) | _held(kind, text), whole=False)
            yield manifest, tuple(_events(said.get("Events"), manifest.ref))
            if kind == "Service" and said.has("Endpoints"):
                yield _endpoints(manifest, said.text("Endpoints")), ()


def _nameless(
    printed: Printed, namespace: str
) -> Iterator[tuple[Manifest, tuple[ClusterEvent, ...]]]:
    """Yield what a part of a description is about, if its command asked for one object."""
    command = printed.command
    name = command.names[0] if len(command.names) == 1 else ""
    if command.verb == "describe" and command.kind and _NAME.fullmatch(name):
        said = Sections(printed.text.splitlines())
        manifest = Manifest(_object(command.kind, name, said, namespace), whole=False)
        told = tuple(_events(said.get("Events"), manifest.ref))
        loose = [line for line in printed.text.splitlines() if _EVENT.match(line)]
        yield manifest, told or tuple(_events(Section("Events", "", loose), manifest.ref))


def _kind(said: Sections, text: str) -> str:
    by_keys = (kind for kind, keys in _SIGNS if said.has(*keys))
    by_table = (kind for kind, header in _TABLES if header.search(text))
    return next(by_keys, next(by_table, ""))


def _object(kind: str, name: str, said: Sections, namespace: str) -> Raw:
    metadata: Raw = {"name": name, "labels": said.get("Labels").pairs()}
    if kind not in CLUSTER_WIDE:
        metadata["namespace"] = said.text("Namespace") or namespace
    kind_of_owner, slash, owner = said.text("Controlled By").partition("/")
    if slash:
        of = {"kind": kind_of_owner, "name": owner, "controller": True}
        metadata["ownerReferences"] = [of]
    read = _READ.get(kind)
    return {"kind": kind, "metadata": metadata, **(read(said) if read else {})}


def _held(kind: str, text: str) -> Raw:
    """The keys that a Secret holds: of its values only their length is told."""
    begin = _DATA.search(text) if kind == "Secret" else None
    return {"data": dict.fromkeys(_KEY.findall(text, begin.end()), "")} if begin else {}


def _endpoints(service: Manifest, addresses: str) -> Manifest:
    metadata = service.dig("metadata")
    raw = {"kind": "Endpoints", "metadata": metadata, "subsets": facts.subsets(addresses)}
    return Manifest(raw, whole=False)


def _events(section: Section, about: ObjectRef) -> Iterator[ClusterEvent]:
    for cells in table(section.lines):
        if row := _row(cells):
            kind, reason, age, source, message = row
            yield ClusterEvent(
                about=about,
                type=kind,
                reason=reason,
                message=message.replace('\\"', '"'),
                count=ages.count(age),
                last_seen=None,
                container=_container(source),
            )


def _row(cells: list[str]) -> tuple[str, str, str, str, str] | None:
    """Return type, reason, age, source and message; pasted rows may lack some of the middle."""
    if len(cells) == _COLUMNS:
        kind, reason, age, source, message = cells
        return kind, reason, age, source, message
    if len(cells) < _FEWEST or cells[0] not in ("Normal", "Warning"):
        return None
    kind, reason, *middle = cells
    age = middle.pop(0) if len(middle) > 1 and _AGE.match(middle[0]) else ""
    source = middle.pop(0) if len(middle) > 1 and _SOURCE.fullmatch(middle[0]) else ""
    return kind, reason, age, source, " ".join(middle)


def _container(source: str) -> str:
    found = re.search(r"spec\.containers\{([^}]+)\}", source)
    return found[1] if found else ""
