"""Who really is meant: from a pod, or a name in an alert, to the object that people declare.

Owner references come first, then labels that a workload selects by, and names only at the end.
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.manifest import Manifest, texts
from tocsin_cluster.owners import may_run, root_owner
from tocsin_cluster.port import Cluster
from tocsin_contracts import Alert, ObjectRef
from tocsin_kit.untrusted import line
from tocsin_validation.resolving.answers import Trace

ASKED = "identity"
MADE = frozenset({"Pod", "ReplicaSet", "Job"})
"""Kinds that controllers make."""

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "CronJob", "Rollout", "Job")
_LABELS = {
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "cronjob": "CronJob",
    "rollout": "Rollout",
    "job_name": "Job",
    "replicaset": "ReplicaSet",
    "horizontalpodautoscaler": "HorizontalPodAutoscaler",
    "poddisruptionbudget": "PodDisruptionBudget",
    "persistentvolumeclaim": "PersistentVolumeClaim",
    "ingress": "Ingress",
    "service": "Service",
}
_SAFE = "bcdfghjklmnpqrstvwxz2456789"
"""The letters that Kubernetes makes names of: no word can come of them."""

_CRON = re.compile(r"(?P<name>.+)-\d{7,10}(-[a-z0-9]{5})?")
_HASHED = re.compile(r"(?P<name>.+)-(?P<hash>[a-z0-9]{5,10})-[a-z0-9]{5}")
_NUMBERED = re.compile(r"(?P<name>.+)-\d{1,4}")
_SUFFIXED = re.compile(r"(?P<name>.+)-(?P<suffix>[a-z0-9]{5})")

Exists = Callable[[ObjectRef], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Identity:
    """An object that is declared somewhere; `shown` is how the cluster has it."""

    object: ObjectRef
    shown: Manifest | None = None


def behind(name: str) -> tuple[tuple[str, str], ...]:
    """Return the workloads that may have made a pod of this name, the likeliest first.

    The last is a workload of the very name: an alert may call it a pod.
    """
    return tuple(dict.fromkeys(_behind(name)))


def _behind(name: str) -> Iterator[tuple[str, str]]:
    if cron := _CRON.fullmatch(name):
        yield "CronJob", cron["name"]
    hashed = _HASHED.fullmatch(name)
    if hashed and _is_made_up(hashed["hash"]):
        yield from (("Deployment", hashed["name"]), ("Rollout", hashed["name"]))
    if numbered := _NUMBERED.fullmatch(name):
        yield "StatefulSet", numbered["name"]
    suffixed = _SUFFIXED.fullmatch(name)
    made_up = suffixed is not None and _is_made_up(suffixed["suffix"])
    if suffixed and made_up:
        yield from ((kind, suffixed["name"]) for kind in ("DaemonSet", "Job"))
    yield from ((kind, name) for kind in WORKLOADS)
    if suffixed and not made_up:
        yield from ((kind, suffixed["name"]) for kind in ("DaemonSet", "Job"))


def _is_made_up(part: str) -> bool:
    return any(c.isdigit() for c in part) or set(part) <= set(_SAFE)


async def of_object(ref: ObjectRef, view: Cluster, trace: Trace) -> Identity:
    """Return what is behind an object of a finding; itself, where nothing owns it."""
    try:
        root = await _root(ref, view) if ref.kind in MADE else ref
        shown = await view.get(root)
    except ClusterError as error:
        trace.note(ASKED, f"{ref}, as the finding names it", f"not seen: {line(str(error), 300)}")
        return Identity(ref)
    if root != ref:
        trace.note(ASKED, f"{ref} belongs to {root}", "by its owners")
    elif shown is None:
        trace.note(ASKED, str(ref), "the cluster does not have it")
    return Identity(root, shown)


async def _root(ref: ObjectRef, view: Cluster) -> ObjectRef:
    """Walk up the owners; where a pod has lost them, ask whose selector picks it."""
    shown = await view.get(ref)
    if shown is not None and shown.owner is None and ref.kind == "Pod":
        picked = await _selecting(shown, view)
        if picked is not None:
            return picked
    return await root_owner(view, ref)


async def _selecting(pod: Manifest, view: Cluster) -> ObjectRef | None:
    found = []
    for kind in ("Deployment", "StatefulSet", "DaemonSet", "Rollout"):
        if not may_run(kind, pod):
            continue
        for one in await _listed(kind, pod, view):
            wanted = texts(one.dig("spec", "selector", "matchLabels"))
            if wanted and wanted.items() <= pod.labels.items():
                found.append(one.ref)
    return found[0] if len(found) == 1 else None


async def _listed(kind: str, pod: Manifest, view: Cluster) -> tuple[Manifest, ...]:
    """Return the workloads of a kind; not every cluster has Rollouts, and then none is seen."""
    try:
        return await view.list(kind, pod.ref.namespace)
    except ClusterError:
        if kind != "Rollout":
            raise
        return ()


async def of_alert(alert: Alert, view: Cluster, declared: Exists, trace: Trace) -> Identity | None:
    """Return what an alert is about; None if nothing in it names an object that is known.

    What the cluster does not show counts where a repository declares it.
    """

    async def is_known(ref: ObjectRef) -> bool:
        try:
            return await view.get(ref) is not None
        except ClusterError:
            return await declared(ref)

    for ref, why in _named(alert):
        if await is_known(ref):
            trace.note(ASKED, f"the alert is about {ref}", why)
            return await of_object(ref, view, trace)
    trace.note(ASKED, "nothing in the alert names an object that is known")
    return None


def _named(alert: Alert) -> Iterator[tuple[ObjectRef, str]]:
    """Yield what labels name, then what a pod of that name would belong to."""
    workload, labels = alert.workload, alert.labels
    space = workload.namespace if workload else labels.get("namespace", "")
    if workload and workload.kind:
        yield workload.ref, "its labels name it"
    for label, kind in _LABELS.items():
        if labels.get(label):
            yield ObjectRef(kind=kind, namespace=space, name=labels[label]), f"its label {label}"
    pods = [labels.get("pod", ""), workload.name if workload else ""]
    for pod in dict.fromkeys(filter(None, pods)):
        yield ObjectRef(kind="Pod", namespace=space, name=pod), "its labels name the pod"
        for kind, name in behind(pod):
            ref = ObjectRef(kind=kind, namespace=space, name=name)
            yield ref, f"by the name {line(pod)!r} alone"
