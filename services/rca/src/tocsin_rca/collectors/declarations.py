"""Which objects the files of a repository declare, and which of them concern a namespace; no IO."""

from collections.abc import Mapping, Sequence

from tocsin_cluster.kinds import CLUSTER_WIDE
from tocsin_cluster.manifest import Manifest
from tocsin_gitops.manifests import is_kustomization, is_yaml
from tocsin_gitops.placements import Checkout
from tocsin_rca.collectors.repository import read

MOST_BYTES = 4 * 1024 * 1024
"""Of manifests that are read in one repository; what is over is not looked at."""

Written = tuple[str, Manifest, frozenset[str]]
"""A file, an object in it, and the namespaces that kustomizations put it into."""


def written(files: Mapping[str, bytes]) -> tuple[Written, ...]:
    """Return every object that a file declares; files that cannot be read declare none."""
    checkout, found, left = Checkout(files), list[Written](), MOST_BYTES
    for file, data in sorted(files.items(), key=lambda item: len(item[1])):
        left -= len(data)
        if left < 0:
            break
        if is_yaml(file) and not is_kustomization(file):
            placed = frozenset(k.namespace for k in checkout.leading_to(file) if k.namespace)
            found += [(file, one, placed) for one in read(data) if one.ref.kind and one.ref.name]
    return tuple(sorted(found, key=lambda one: one[0]))


def chosen(
    found: Sequence[Written], namespace: str, names: Sequence[str]
) -> list[tuple[str, Manifest]]:
    """Return the objects of a namespace or without one, those of the names first.

    One of those names is taken whatever namespace its file says: it may be the wrong one.
    """
    concerned = [
        (file, _placed(manifest, namespace))
        for file, manifest, placed in found
        if _is_in(manifest, placed, namespace) or manifest.ref.name in names
    ]
    return sorted(concerned, key=lambda one: one[1].ref.name not in names)


def _is_in(manifest: Manifest, placed: frozenset[str], namespace: str) -> bool:
    ref = manifest.ref
    if not namespace or ref.kind in CLUSTER_WIDE:
        return True
    if ref.namespace:
        return ref.namespace == namespace
    return not placed or namespace in placed


def _placed(manifest: Manifest, namespace: str) -> Manifest:
    ref = manifest.ref
    if ref.namespace or not namespace or ref.kind in CLUSTER_WIDE:
        return manifest
    metadata = manifest.raw.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    return Manifest({**manifest.raw, "metadata": {**known, "namespace": namespace}})
