"""Who really runs a pod: the walk from an object to the one that people edit."""

import re
from collections.abc import Mapping
from typing import Protocol

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.manifest import Manifest, Owner
from tocsin_contracts import ObjectRef

_DEPTH = 6
_POD_NAME = re.compile(r"^(?P<name>.+?)-[a-z0-9]{1,10}-[a-z0-9]{5}$")
_ORDINAL_OR_SUFFIX = re.compile(r"^(?P<name>.+)-[a-z0-9]+$")
_PARENTS = {"ReplicaSet": ("Deployment", "Rollout"), "Job": ("CronJob",)}
_CHILD = {parent: child for child, parents in _PARENTS.items() for parent in parents}
_HASHES = {"Deployment": "pod-template-hash", "Rollout": "rollouts-pod-template-hash"}
"""The label by which each of the two knows the pods of its ReplicaSets."""

_GIVEN = r"(?:-[a-z0-9]{6,10})?-(?=[a-z]*\d)[a-z0-9]{4,5}"
"""What a controller adds to its own name; made-up words rarely have a digit in them."""

_BETWEEN = re.compile(r"-[a-z0-9]{6,10}")

_TWICE = re.compile(r"-[a-z0-9]{6,10}-[a-z0-9]{5}")
_CALLED = {
    "Deployment": _TWICE,
    "Rollout": _TWICE,
    "StatefulSet": re.compile(r"-\d+"),
    "DaemonSet": re.compile(_GIVEN),
    "ReplicaSet": re.compile(_GIVEN),
    "Job": re.compile(_GIVEN),
    "CronJob": re.compile(r"-\d{6,10}-[a-z0-9]{5}"),
}


class Objects(Protocol):
    """The part of a cluster that owners are looked up in. Every question may raise ClusterError."""

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one object, or None when it does not exist."""

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind in a namespace that carry all of the labels."""


async def root_owner(cluster: Objects, ref: ObjectRef) -> ObjectRef:
    """Return the topmost controller of an object; an object without an owner is its own root.

    What the cluster says comes first. Names are read only where an object on the way is gone, or
    was recorded without its owners, and only if the object so named is confirmed to exist.
    """
    for _ in range(_DEPTH):
        manifest = await cluster.get(ref)
        above = None if manifest is None else _owner(manifest)
        if above is None and (manifest is None or not _is_complete(manifest)):
            above = await _by_name(cluster, ref, manifest)
        if above is None:
            return ref
        ref = above
    return ref


async def pods_of(cluster: Objects, workload: Manifest) -> tuple[Manifest, ...]:
    """Return the pods that a workload runs, directly or through ReplicaSets or Jobs."""
    ref = workload.ref
    if ref.kind == "Pod":
        return (workload,)
    owners = {Owner(ref.kind, ref.name)}
    between = _CHILD.get(ref.kind)
    known: set[str] = set()
    if between:
        children = await cluster.list(between, ref.namespace)
        known = {child.ref.name for child in children}
        owners |= {Owner(between, c.ref.name) for c in children if c.owner in owners}
    pods = await cluster.list("Pod", ref.namespace)
    return tuple(
        pod
        for pod in pods
        if pod.owner in owners
        or _hashed(pod, ref)
        or is_called_after(pod, ref)
        or (pod.owner and pod.owner.name not in known and _is_between(pod, ref))
    )


def may_run(kind: str, pod: Manifest) -> bool:
    """Whether the marks of a pod leave it open that an object of that kind runs it."""
    marks = {owner for owner, label in _HASHES.items() if label in pod.labels}
    return not marks or kind not in _HASHES or kind in marks


def is_called_after(pod: Manifest, workload: ObjectRef) -> bool:
    """Whether a pod that was recorded without its owners has a name that a workload would give."""
    if _is_complete(pod) or pod.owner or pod.ref.namespace != workload.namespace:
        return False
    given, name = _CALLED.get(workload.kind), pod.ref.name
    if given is None or not name.startswith(workload.name) or not may_run(workload.kind, pod):
        return False
    return given.fullmatch(name.removeprefix(workload.name)) is not None


def _hashed(pod: Manifest, workload: ObjectRef) -> bool:
    """Whether a pod of a ReplicaSet that was not recorded carries the mark of its workload."""
    template_hash = pod.labels.get(_HASHES.get(workload.kind, ""))
    if not template_hash:
        return False
    return pod.owner == Owner("ReplicaSet", f"{workload.name}-{template_hash}")


def _is_between(pod: Manifest, workload: ObjectRef) -> bool:
    """Whether an owner that was not recorded has the name that a workload gives to such."""
    owner = pod.owner
    if owner is None or workload.kind not in _PARENTS.get(owner.kind, ()):
        return False
    given = owner.name.removeprefix(workload.name)
    named = given != owner.name and _BETWEEN.fullmatch(given) is not None
    return named and may_run(workload.kind, pod)


def _is_complete(manifest: Manifest) -> bool:
    """Whether it is all that an API server holds: that always has an id."""
    return manifest.whole and manifest.dig("metadata", "uid") is not None


def _owner(manifest: Manifest) -> ObjectRef | None:
    owner = manifest.owner
    if owner is None:
        return None
    return ObjectRef(kind=owner.kind, namespace=manifest.ref.namespace, name=owner.name)


async def _by_name(cluster: Objects, ref: ObjectRef, shown: Manifest | None) -> ObjectRef | None:
    """Return what a name says made an object; None if there is no such, or two that might have."""
    for guesses in _guesses(ref):
        open_ = [one for one in guesses if shown is None or may_run(one.kind, shown)]
        found = [one for one in open_ if await _is_there(cluster, one)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


async def _is_there(cluster: Objects, ref: ObjectRef) -> bool:
    """Ask for an object; of kinds that not every cluster has, no answer is none."""
    try:
        return await cluster.get(ref) is not None
    except ClusterError:
        if ref.kind != "Rollout":
            raise
        return False


def _guesses(ref: ObjectRef) -> tuple[tuple[ObjectRef, ...], ...]:
    """Return what may have made it, the likeliest first; one group is equally likely."""

    def named(name: str, *kinds: str) -> tuple[ObjectRef, ...]:
        return tuple(ObjectRef(kind=kind, namespace=ref.namespace, name=name) for kind in kinds)

    shorter = _ORDINAL_OR_SUFFIX.match(ref.name)
    if shorter is None:
        return ()
    name = shorter["name"]
    if ref.kind != "Pod":
        return (named(name, *_PARENTS.get(ref.kind, ())),)
    twice = _POD_NAME.match(ref.name)
    outer = (named(twice["name"], *_HASHES), named(twice["name"], "CronJob")) if twice else ()
    numbered = ref.name.removeprefix(f"{name}-").isdigit()
    kinds = (*(("StatefulSet",) if numbered else ()), "DaemonSet", "Job", "ReplicaSet")
    return outer + tuple(named(name, kind) for kind in kinds)
