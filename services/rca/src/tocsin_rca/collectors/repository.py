"""Which files of a repository say something about one object, and what commits change; no IO."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.sanity import is_sane
from tocsin_contracts import FieldPath, ObjectRef
from tocsin_gitops import kustomize
from tocsin_gitops.images import parse
from tocsin_gitops.placements import Checkout
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_rca.evidence.fields import changed_scalars
from tocsin_rca.ports import ChangedField


@dataclass(frozen=True, slots=True)
class Mentions:
    """The files about one object: its manifests and patches, and what sets its images.

    `images` are the fields of the object that hold an image, as its manifests write them.
    """

    target: ObjectRef
    manifests: tuple[str, ...]
    kustomizations: tuple[str, ...]
    images: Mapping[FieldPath, str]

    @property
    def files(self) -> tuple[str, ...]:
        """All of the files."""
        return self.manifests + self.kustomizations

    def changes(
        self, file: str, before: bytes | None, after: bytes | None
    ) -> tuple[ChangedField, ...]:
        """Return what two versions of one of the files say differently about the object.

        A file or an object that only one of them holds has no changed fields.
        """
        if before is None or after is None:
            return ()
        if file in self.kustomizations:
            return tuple(self._changed_images(file, before, after))
        pairs = zip(*(_about(self.target, text) for text in (before, after)), strict=False)
        return tuple(
            ChangedField(document=now.ref, path=path, before=old, after=new)
            for was, now in pairs
            for path, old, new in changed_scalars(was.raw, now.raw)
        )

    def _changed_images(self, file: str, before: bytes, after: bytes) -> Iterator[ChangedField]:
        try:
            was, now = (kustomize.read(file, text) for text in (before, after))
        except EditRefused:
            return
        for path, image in self.images.items():
            old, new = was.rendered(image), now.rendered(image)
            if old != new:
                yield ChangedField(document=self.target, path=path, before=old, after=new)


def find_mentions(files: Mapping[str, bytes], target: ObjectRef) -> Mentions:
    """Search a repository for an object; files that cannot be read say nothing."""
    checkout = Checkout(files)
    written = {
        file: found
        for file, data in files.items()
        if target.name.encode() in data
        and (found := _about(target, data))
        and _is_placed(checkout, file, target)
    }
    images = {
        (*container.path, "image"): str(container.raw["image"])
        for found in written.values()
        for manifest in found
        for container in manifest.containers()
        if container.raw.get("image")
    }
    names = {parse(image).name for image in images.values()}
    setting = {
        layer.file
        for file in written
        for layer in checkout.leading_to(file)
        if layer.namespace in ("", target.namespace) and names & {one.name for one in layer.images}
    }
    return Mentions(target, tuple(written), tuple(sorted(setting)), images)


def _is_placed(checkout: Checkout, file: str, target: ObjectRef) -> bool:
    """Whether no kustomization puts what a file holds into other namespaces only."""
    namespaces = {k.namespace for k in checkout.leading_to(file) if k.namespace}
    return not namespaces or target.namespace in namespaces


def _about(target: ObjectRef, data: bytes) -> list[Manifest]:
    return [manifest for manifest in read(data) if _is(manifest.ref, target)]


def read(data: bytes) -> Iterator[Manifest]:
    """Yield what a file declares; a file that cannot be read declares nothing."""
    try:
        documents = list(yaml.load_all(data, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    for document in documents:
        if isinstance(document, Mapping) and is_sane(document):
            yield Manifest(document)


def _is(written: ObjectRef, target: ObjectRef) -> bool:
    same = (written.kind, written.name) == (target.kind, target.name)
    return same and written.namespace in ("", target.namespace)
