"""What a cluster is asked about a change; a recording that lacks a kind says nothing about it."""

from collections.abc import Iterable, Mapping
from typing import Any

from tocsin_cluster.kinds import plural
from tocsin_cluster.manifest import POD_TEMPLATE, Manifest, dig
from tocsin_cluster.owners import pods_of
from tocsin_cluster.port import EVERYWHERE, Cluster
from tocsin_contracts import FailureCode, FieldChange, ObjectRef
from tocsin_gitops import manifests
from tocsin_gitops.editing import EditRefused
from tocsin_gitops.manifests import scalar
from tocsin_validation.outlook import schemas
from tocsin_validation.ports import Proposed
from tocsin_validation.surroundings.asked import NotTold

_DEFINITION = "CustomResourceDefinition"
Schemas = Mapping[tuple[str, str], Mapping[str, Any]]


def target_of(change: Proposed) -> ObjectRef:
    """Return the object that the change is about, as the cluster calls it."""
    finding = change.hypothesis.finding
    return finding.change.object if finding.change else finding.object


def asks_for_more(changes: Iterable[FieldChange]) -> bool:
    """Whether it may change what pods ask for, or how many there are."""
    return any("resources" in one.path or one.path[-1:] == ("replicas",) for one in changes)


async def live(cluster: Cluster, ref: ObjectRef) -> Manifest:
    """Return the object as the cluster has it, as a whole."""
    found = await cluster.get(ref)
    if found is None:
        raise NotTold(f"{cluster.source} has no {ref}", FailureCode.NOT_FOUND)
    if not found.whole:
        raise NotTold(f"{ref} was recorded in part", FailureCode.NOT_RECORDED)
    return found


async def pods(cluster: Cluster, ref: ObjectRef) -> tuple[Manifest, ...]:
    """Return the pods that the object runs."""
    if ref.kind not in POD_TEMPLATE:
        raise NotTold(f"a {ref.kind} runs no pods of its own", FailureCode.UNSUPPORTED)
    return await pods_of(cluster, await live(cluster, ref))


async def listed(cluster: Cluster, kind: str, namespace: str) -> tuple[Manifest, ...]:
    """Return the objects of a kind; from a recording none only if it holds some of others."""
    found = await cluster.list(kind, namespace)
    recorded = not found and cluster.recorded_at is not None
    if recorded and (namespace == EVERYWHERE or not await cluster.list(kind, EVERYWHERE)):
        raise NotTold(f"the recording holds no {kind}", FailureCode.NOT_RECORDED)
    if not all(one.whole for one in found):
        raise NotTold(f"a {kind} was recorded in part", FailureCode.NOT_RECORDED)
    return found


async def custom_schemas(cluster: Cluster, change: Proposed) -> Schemas:
    """Return the schemas of the custom resources among the edited objects."""
    found = {}
    for api_version, kind in sorted(_kinds(change)):
        group, slash, version = api_version.rpartition("/")
        if not slash or schemas.is_known(api_version, kind, schemas.versions()[-1]):
            continue
        ref = ObjectRef(kind=_DEFINITION, name=f"{plural(kind)}.{group}")
        definition = await live(cluster, ref)
        for one in definition.items("spec", "versions"):
            schema = dig(one, "schema", "openAPIV3Schema")
            if one.get("name") == version and isinstance(schema, Mapping):
                found[api_version, kind] = schema
    return found


def _kinds(change: Proposed) -> set[tuple[str, str]]:
    """Return apiVersion and kind of every edited object of the touched files."""
    edited = {(edit.file, edit.document.kind) for edit in change.edits if edit.document}
    found = set()
    for file, kind in edited:
        try:
            documents = manifests.read(file, change.before.get(file, b""))
        except EditRefused:
            continue
        found |= {(scalar(d.node, ("apiVersion",)), kind) for d in documents if d.ref.kind == kind}
    return found
