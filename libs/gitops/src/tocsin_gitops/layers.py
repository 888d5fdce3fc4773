"""Walk the layers of a placement from the manifest outward, in the order kustomize applies them."""

from collections.abc import Iterator

from tocsin_contracts import FieldPath
from tocsin_gitops import patches
from tocsin_gitops.owners import Owner, held, transformed
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.yaml_nodes import EditRefused


def setters(
    checkout: Checkout, placement: Placement, path: FieldPath, *, inside: bool = True
) -> Iterator[Owner]:
    """Yield everything that sets the field; the last one owns it. EditRefused: a broken layer."""
    document = placement.document
    last = held(document.file, document.node, document, path)
    if last:
        yield last
    for layer in placement.layers:
        for patched in patches.setters(checkout, layer, placement, path, inside=inside):
            yield (last := patched)
        for changed in transformed(layer, placement, path, last):
            yield (last := changed)


def reaches(checkout: Checkout, owner: Owner, placement: Placement, path: FieldPath) -> bool:
    """Whether the owner decides its field of that placement as well; in doubt it does."""
    try:
        last = list(setters(checkout, placement, path))[-1:]
    except EditRefused:
        return True
    return any(other.place == owner.place for other in last)


def touches(checkout: Checkout, owner: Owner, placement: Placement, path: FieldPath) -> bool:
    """Whether the owner has a say in its field of that placement, even if others have too."""
    try:
        found = list(setters(checkout, placement, path, inside=False))
    except EditRefused:
        return True
    return any(other.place == owner.place for other in found)
