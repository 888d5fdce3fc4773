"""Tell what else a line of a repository decides: an edit for one object must not change it."""

from collections.abc import Iterator

from tocsin_contracts import ChangeOp, FieldChange, FieldPath
from tocsin_gitops import landing, placing
from tocsin_gitops.field_tables import PODS
from tocsin_gitops.layers import reaches, touches
from tocsin_gitops.manifests import Document, scalar
from tocsin_gitops.owners import Owner, Part
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_gitops.yaml_paths import find, path_text


def others(
    checkout: Checkout, chosen: Placement, owner: Owner, change: FieldChange
) -> Iterator[str]:
    """Yield what the owner of a field decides besides that field of the chosen object.

    Of an entry of `images` that is every container which gets its image from there.
    """
    if owner.part is not Part.WHOLE:
        yield from _retagged(checkout, chosen, owner, change)
        return
    kind, document = chosen.document.ref.kind, chosen.document
    patch = owner.document is not document
    ways = checkout.deployed_through(owner.file, kind) if patch else checkout.deployed(document)
    path = landing.looked_for(change)
    hits = reaches if change.op is ChangeOp.SET else touches
    for way in ways:
        if not placing.is_same(chosen, way) and hits(checkout, owner, way, path):
            yield str(way)


def _retagged(
    checkout: Checkout, chosen: Placement, owner: Owner, change: FieldChange
) -> Iterator[str]:
    for kind, pods in PODS.items():
        for way in checkout.deployed_through(owner.file, kind):
            for path in _images(way.document, pods):
                own = path == change.path and placing.is_same(chosen, way)
                if not own and reaches(checkout, owner, way, path):
                    yield f"{path_text(path)} of {kind} {way.name} in {way}"


def _images(document: Document, pods: FieldPath) -> Iterator[FieldPath]:
    """Yield the paths of the images that a manifest names."""
    for section in ("containers", "initContainers"):
        try:
            items = find(document.node, (*pods, section)).children
        except EditRefused:
            continue
        for item in items:
            if name := scalar(item, ("name",)):
                yield (*pods, section, f"[name={name}]", "image")
