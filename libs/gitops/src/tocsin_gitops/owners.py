"""Decide which line of which file sets a field of a deployed object: the last layer wins."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from tocsin_contracts import FieldPath, Tree
from tocsin_gitops import images, trees
from tocsin_gitops.kustomize import SCALED, ImageEntry, Kustomization
from tocsin_gitops.manifests import Document
from tocsin_gitops.placements import Placement
from tocsin_gitops.yaml_nodes import EditRefused, Node
from tocsin_gitops.yaml_paths import PathMissing, find, path_text


class Part(StrEnum):
    """Which part of the field the owner sets; only images are set in parts."""

    WHOLE = "whole"
    TAG = "tag"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class Owner:
    """The place that sets a field, the value written there, and the field's value in the end.

    `blocked` says why the place is known but cannot be edited.
    """

    file: str
    document: Document | None
    path: FieldPath
    value: Tree
    effective: Tree
    part: Part = Part.WHOLE
    blocked: str = ""

    @property
    def place(self) -> tuple[str, int, FieldPath]:
        """What two owners have in common if editing one edits the other."""
        return self.file, self.document.index if self.document else -1, self.path

    def __str__(self) -> str:
        """Say what is set where; a long value is left out."""
        short = not isinstance(self.value, dict | list)
        told = f" to {self.value!r}" if short else ""
        return f"{self.file!r} sets {path_text(self.path)}{told}"


def held(file: str, root: Node, document: Document | None, path: FieldPath) -> Owner | None:
    """Return the owner a document is, blocked if its value cannot be told; None without one."""
    try:
        value = trees.read(find(root, path))
    except PathMissing:
        return None
    except EditRefused as refused:
        return Owner(file, document, path, None, None, blocked=f"{file!r}: {refused}")
    return Owner(file, document, path, value, value)


def transformed(
    layer: Kustomization, placement: Placement, path: FieldPath, owner: Owner | None
) -> Iterator[Owner]:
    """Yield what the other sections of a layer make of a field, after its patches."""
    if layer.opaque:
        why = f"{layer.file!r} uses {', '.join(layer.opaque)}, which may set it and is not followed"
        yield Owner(layer.file, layer.document, path, None, None, blocked=why)
    if path[:2] == ("spec", "selector") and path[-1] in layer.labels:
        why = f"{layer.file!r} sets it as a label of everything it deploys"
        yield Owner(layer.file, layer.document, path, None, None, blocked=why)
    if path == ("spec", "replicas") and placement.document.ref.kind in SCALED:
        names = (name for name in layer.replicas if name in placement.names)
        yield from (_entry(layer, "replicas", name, "count") for name in names)
    if owner and isinstance(owner.effective, str) and _is_image(path):
        for entry in layer.images:
            if entry.name == images.parse(owner.effective).name:
                owner = _retagged(layer, entry, owner)
                yield owner


def _retagged(layer: Kustomization, entry: ImageEntry, owner: Owner) -> Owner:
    after = str(entry.applied(images.parse(str(owner.effective))))
    if entry.digest:
        digested = _entry(layer, "images", entry.name, "digest")
        return replace(digested, effective=after, part=Part.DIGEST)
    if entry.new_tag:
        tagged = _entry(layer, "images", entry.name, "newTag")
        return replace(tagged, effective=after, part=Part.TAG)
    return replace(owner, effective=after)


def _entry(layer: Kustomization, section: str, name: str, key: str) -> Owner:
    path = (section, f"[name={name}]", key)
    found = held(layer.file, layer.document.node, layer.document, path)
    missing = f"{layer.file!r} has no {path_text(path)}"
    return found or Owner(layer.file, layer.document, path, None, None, blocked=missing)


def _is_image(path: FieldPath) -> bool:
    return path[-1:] == ("image",) and path[-3:-2] in (("containers",), ("initContainers",))
