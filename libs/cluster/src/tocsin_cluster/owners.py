"""Who really runs a pod: the walk from an object to the one that people edit."""

import re

from tocsin_cluster.manifest import Manifest, Owner
from tocsin_cluster.port import Cluster
from tocsin_contracts import ObjectRef

_DEPTH = 6
_POD_NAME = re.compile(r"^(?P<name>.+?)-[a-z0-9]{1,10}-[a-z0-9]{5}$")
_ORDINAL_OR_SUFFIX = re.compile(r"^(?P<name>.+)-[a-z0-9]+$")
_PARENT = {"ReplicaSet": "Deployment", "Job": "CronJob"}


async def root_owner(cluster: Cluster, ref: ObjectRef) -> ObjectRef:
    """Return the topmost controller of an object; an object without an owner is its own root.

    What the cluster says comes first. Names are read only where an object on the way is gone,
    and only if the cluster then confirms that the object so named exists.
    """
    for _ in range(_DEPTH):
        manifest = await cluster.get(ref)
        above = await _by_name(cluster, ref) if manifest is None else _owner(manifest)
        if above is None:
            return ref
        ref = above
    return ref


async def pods_of(cluster: Cluster, workload: Manifest) -> tuple[Manifest, ...]:
    """Return the pods that a workload runs, directly or through ReplicaSets or Jobs."""
    ref = workload.ref
    if ref.kind == "Pod":
        return (workload,)
    owners = {Owner(ref.kind, ref.name)}
    between = {parent: child for child, parent in _PARENT.items()}.get(ref.kind)
    if between:
        children = await cluster.list(between, ref.namespace)
        owners |= {Owner(between, c.ref.name) for c in children if c.owner in owners}
    pods = await cluster.list("Pod", ref.namespace)
    return tuple(pod for pod in pods if pod.owner in owners or _hashed(pod, ref))


def _hashed(pod: Manifest, workload: ObjectRef) -> bool:
    """Whether a pod of a ReplicaSet that was not recorded carries the Deployment's mark."""
    template_hash = pod.labels.get("pod-template-hash")
    if not template_hash or workload.kind != "Deployment":
        return False
    return pod.owner == Owner("ReplicaSet", f"{workload.name}-{template_hash}")


def _owner(manifest: Manifest) -> ObjectRef | None:
    owner = manifest.owner
    if owner is None:
        return None
    return ObjectRef(kind=owner.kind, namespace=manifest.ref.namespace, name=owner.name)


async def _by_name(cluster: Cluster, ref: ObjectRef) -> ObjectRef | None:
    for guess in _guesses(ref):
        if await cluster.get(guess) is not None:
            return guess
    return None


def _guesses(ref: ObjectRef) -> tuple[ObjectRef, ...]:
    def named(kind: str, name: str) -> ObjectRef:
        return ObjectRef(kind=kind, namespace=ref.namespace, name=name)

    shorter = _ORDINAL_OR_SUFFIX.match(ref.name)
    if shorter is None:
        return ()
    if ref.kind != "Pod":
        parent = _PARENT.get(ref.kind)
        return (named(parent, shorter["name"]),) if parent else ()
    of_deployment = _POD_NAME.match(ref.name)
    deployments = (named("Deployment", of_deployment["name"]),) if of_deployment else ()
    kinds = ("StatefulSet", "DaemonSet", "Job")
    return deployments + tuple(named(kind, shorter["name"]) for kind in kinds)
