"""Which objects the files of a repository declare, and which of them concern a namespace; no IO."""

from collections.abc import Mapping, Sequence

from tocsin_cluster.kinds import CLUSTER_WIDE
from tocsin_cluster.manifest import Manifest
from tocsin_gitops.manifests import is_kustomization, is_yaml
from tocsin_gitops.placements import Checkout
from tocsin_rca.collectors.repository import read

ELSEWHERE = frozenset({"PrometheusRule", "Application", "Kustomization", "HelmRelease"})
"""Kinds whose objects are often kept in another namespace than the one they are about."""

MOST_BYTES = 4 * 1024 * 1024
"""Of manifests that are read in one repository; what is over is not looked at."""

_FAR = 2

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
    found: Sequence[Written], namespace: str, names: Sequence[str], limit: int
) -> list[tuple[str, Manifest]]:
    """Return the objects of a namespace or without one, those of the names first.

    One of those names is taken whatever namespace its file says: it may be the wrong one. If there
    is room for all objects, those of other namespaces come last.
    """
    fitting = (
        (_distance(one, placed, namespace, names), file, _placed(one, namespace))
        for file, one, placed in found
    )
    ranked = sorted(fitting, key=lambda ranked: ranked[0])
    kept = ranked if len(ranked) <= limit else [one for one in ranked if one[0] < _FAR]
    return [(file, manifest) for _, file, manifest in kept[:limit]]


def _distance(
    manifest: Manifest, placed: frozenset[str], namespace: str, names: Sequence[str]
) -> int:
    ref = manifest.ref
    if ref.name in names:
        return 0
    if not namespace or ref.kind in CLUSTER_WIDE or ref.kind in ELSEWHERE:
        return 1
    if ref.namespace:
        return 1 if ref.namespace == namespace else _FAR
    return 1 if not placed or namespace in placed else _FAR


def _placed(manifest: Manifest, namespace: str) -> Manifest:
    ref = manifest.ref
    if ref.namespace or not namespace or ref.kind in CLUSTER_WIDE:
        return manifest
    metadata = manifest.raw.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    return Manifest({**manifest.raw, "metadata": {**known, "namespace": namespace}})
