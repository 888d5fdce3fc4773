"""What Applications of Argo CD say about themselves: what they list, for which cluster, in whom."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from tocsin_cluster.api_versions import API_VERSIONS
from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef
from tocsin_gitops.config import GitOps

TRACKING = "argocd.argoproj.io/tracking-id"
_ITSELF = frozenset({"https://kubernetes.default.svc", "https://kubernetes.default.svc:443"})


class Here(StrEnum):
    """Whether an Application deploys to the cluster that is asked about."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def lists(app: Manifest, ref: ObjectRef) -> bool:
    """Whether an Application deploys an object: it lists it, and not only to take it away."""
    return any(
        _is(entry, ref) and entry.get("requiresPruning") is not True
        for entry in app.items("status", "resources")
    )


def _is(entry: Mapping[str, object], ref: ObjectRef) -> bool:
    told = (str(entry.get(key) or "") for key in ("kind", "namespace", "name"))
    return tuple(told) == (ref.kind, ref.namespace, ref.name) and is_of_group(
        ref.kind, str(entry.get("group") or "")
    )


def is_of_group(kind: str, group: str) -> bool:
    """Whether a kind is the one that we mean: others may be called the same."""
    version = API_VERSIONS.get(kind)
    return version is None or group == (version.split("/")[0] if "/" in version else "")


def marked(shown: Manifest | None) -> str:
    """Return which Application Argo CD marked an object as its own; a copied mark is none."""
    if shown is None:
        return ""
    told = str(shown.dig("metadata", "annotations", TRACKING) or "")
    name, _, of = told.partition(":")
    version, ref = str(shown.raw.get("apiVersion") or ""), shown.ref
    group = version.rpartition("/")[0]
    return name if of == f"{group}/{ref.kind}:{ref.namespace}/{ref.name}" else ""


def believed(app: Manifest, mark: str, gitops: GitOps) -> bool:
    """Whether an Application may say what it deploys: whoever writes one writes its status too.

    One in a namespace of Argo CD's own may; any other only if the object bears its mark. A mark
    of another one wins over all that is said.
    """
    if app.ref.namespace in gitops.argo_namespaces:
        return mark in ("", app.ref.name, _long_name(app))
    return mark == _long_name(app)


def _long_name(app: Manifest) -> str:
    return f"{app.ref.namespace}_{app.ref.name}"


def here(app: Manifest, cluster: str, gitops: GitOps) -> Here:
    """Return whether the destination is the cluster; its own address is Argo CD's own cluster."""
    name = str(app.dig("spec", "destination", "name") or "")
    server = str(app.dig("spec", "destination", "server") or "").rstrip("/")
    if name == "in-cluster" or server in _ITSELF:
        return Here.YES if gitops.argo_of(cluster) == cluster else Here.NO
    if name:
        return Here.YES if cluster and name == cluster else _not(cluster)
    address = gitops.address_of(cluster).rstrip("/")
    if not address:
        return Here.UNKNOWN if server else Here.NO
    return Here.YES if server.lower() == address.lower() else Here.NO


def _not(cluster: str) -> Here:
    return Here.NO if cluster else Here.UNKNOWN


def innermost(listing: Sequence[Manifest], apps: Sequence[Manifest]) -> list[Manifest]:
    """Leave out an Application that deploys another one of them, directly or through any others."""
    below = {app.ref: _children(app) for app in apps}
    mine = {app.ref for app in listing}
    return [app for app in listing if not (_reached(app, below) & mine) - {app.ref}]


def _children(app: Manifest) -> set[ObjectRef]:
    return {
        ObjectRef(
            kind="Application",
            namespace=str(entry.get("namespace") or app.ref.namespace),
            name=str(entry.get("name")),
        )
        for entry in app.items("status", "resources")
        if entry.get("kind") == "Application"
    }


def _reached(app: Manifest, below: Mapping[ObjectRef, set[ObjectRef]]) -> set[ObjectRef]:
    found, waiting = set[ObjectRef](), list(below[app.ref])
    while waiting:
        ref = waiting.pop()
        if ref not in found:
            found.add(ref)
            waiting += below.get(ref, ())
    return found
