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
    ("NetworkPolicy", ("Spec",)),
    ("PodDisruptionBudget", ("Allowed disruptions",)),
)
_TABLES = (
    ("ResourceQuota", re.compile(r"^Resource\s+Used\s+Hard", re.MULTILINE)),
    ("LimitRange", re.compile(r"^Type\s+Resource\s+Min", re.MULTILINE)),
)
"""The kinds, by what only their descriptions say; the first that fits."""

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
    for start, end in pairwise((*starts, len(printed.text))):
        text = printed.text[start:end]
        said = Sections(text.splitlines())
        kind = printed.command.kind or _kind(said, text)
        name = said.text("Name")
        if kind and name:
            manifest = Manifest(_object(kind, name, said, where), whole=False)
            yield manifest, tuple(_events(said.get("Events"), manifest.ref))
            if kind == "Service" and said.has("Endpoints"):
                yield _endpoints(manifest, said.text("Endpoints")), ()


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


def _endpoints(service: Manifest, addresses: str) -> Manifest:
    metadata = service.dig("metadata")
    raw = {"kind": "Endpoints", "metadata": metadata, "subsets": facts.subsets(addresses)}
    return Manifest(raw, whole=False)


def _events(section: Section, about: ObjectRef) -> Iterator[ClusterEvent]:
    columns = len(("type", "reason", "age", "from", "message"))
    for cells in table(section.lines):
        if len(cells) == columns:
            kind, reason, age, source, message = cells
            yield ClusterEvent(
                about=about,
                type=kind,
                reason=reason,
                message=message.replace('\\"', '"'),
                count=ages.count(age),
                last_seen=None,
                container=_container(source),
            )


def _container(source: str) -> str:
    found = re.search(r"spec\.containers\{([^}]+)\}", source)
    return found[1] if found else ""
