"""Read what a kustomization.yaml does to the objects that pass through it."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from tocsin_gitops import manifests
from tocsin_gitops.images import Image, parse
from tocsin_gitops.manifests import Document, scalar
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind
from tocsin_gitops.yaml_paths import PathMissing, find

SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
"""The kinds that an entry of `replicas` is for: all of them that have its name."""

_OPAQUE = ("replacements", "transformers", "vars", "helmCharts")
_REPEATS = re.compile(r"[*+?{]")
_REPEATED = re.compile(r"\)[*+?{]")
_SMALL = 4096
LONGEST_NAME, MOST_REPEATS = 253, 2
_REMOTE = re.compile(r"://|^git@|\?ref=|^(github|gitlab|bitbucket)\.[a-z]+/")


@dataclass(frozen=True, slots=True)
class Selector:
    """Which objects a patch is for; empty fields are not asked. Words are whole expressions."""

    kind: str
    name: str
    namespace: str
    by_label: bool

    @property
    def unclear(self) -> bool:
        """Whether it cannot be told which objects are meant; it may be any."""
        words = (self.kind, self.name, self.namespace)
        return self.by_label or any(map(_is_endless, words))

    def picks(self, kind: str, names: Iterable[str], namespaces: Iterable[str]) -> bool:
        """Whether an object that has had these names and namespaces is meant, or may be."""
        asked = ((self.kind, (kind,)), (self.name, names), (self.namespace, namespaces))
        return all(not word or any(_matches(word, v) for v in values) for word, values in asked)


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch; `file` is empty for one that is written into the kustomization itself."""

    file: str
    text: str
    selector: Selector | None


@dataclass(frozen=True, slots=True)
class ImageEntry:
    """One entry of `images`, in kustomize's own words."""

    name: str
    new_name: str
    new_tag: str
    digest: str

    def applied(self, image: Image) -> Image:
        """Return what becomes of an image of that name: a new tag or digest replaces both."""
        name = self.new_name or image.name
        if self.new_tag or self.digest:
            return Image(name, self.new_tag, self.digest)
        return replace(image, name=name)


@dataclass(frozen=True, slots=True)
class Kustomization:
    """One folder's kustomization; paths are from the root of the repository.

    `labels` are the keys it writes into selectors, `opaque` the sections nobody follows here.
    """

    folder: str
    document: Document
    component: bool
    namespace: str
    prefix: str
    suffix: str
    resources: tuple[str, ...]
    components: tuple[str, ...]
    patches: tuple[Patch, ...]
    images: tuple[ImageEntry, ...]
    replicas: tuple[str, ...]
    labels: frozenset[str]
    opaque: tuple[str, ...]

    @property
    def file(self) -> str:
        """The kustomization file itself."""
        return self.document.file

    @property
    def uses(self) -> tuple[str, ...]:
        """Every folder and file that it names."""
        patches = (patch.file for patch in self.patches if patch.file)
        return (*self.resources, *self.components, *patches)

    def rendered(self, image: str) -> str:
        """Return the image that a container gets which asks for this one."""
        shown = parse(image)
        for entry in self.images:
            shown = entry.applied(shown) if entry.name == shown.name else shown
        return str(shown)


def read(file: str, data: bytes) -> Kustomization:
    """Read one kustomization; EditRefused if it is not plain YAML.

    What was read of small files is remembered: every question is about nearly the same ones.
    """
    return _remembered(file, data) if len(data) <= _SMALL else _read(file, data)


def _read(file: str, data: bytes) -> Kustomization:
    found = manifests.read(file, data)
    if len(found) != 1:
        raise EditRefused(f"it holds {len(found)} kustomizations instead of one")
    root, folder = found[0].node, manifests.folder(file)
    images = (
        ImageEntry(*(scalar(i, (key,)) for key in ("name", "newName", "newTag", "digest")))
        for i in _items(root, "images")
    )
    return Kustomization(
        folder=folder,
        document=found[0],
        component=scalar(root, ("kind",)) == "Component",
        namespace=scalar(root, ("namespace",)),
        prefix=scalar(root, ("namePrefix",)),
        suffix=scalar(root, ("nameSuffix",)),
        resources=(*_paths(folder, root, "resources"), *_paths(folder, root, "bases")),
        components=_paths(folder, root, "components"),
        patches=tuple(_patches(folder, root)),
        images=tuple(images),
        replicas=tuple(scalar(item, ("name",)) for item in _items(root, "replicas")),
        labels=frozenset(_labels(root)),
        opaque=tuple(_opaque(root)),
    )


_remembered = lru_cache(maxsize=8192)(_read)


def remote(resource: str) -> bool:
    """Whether a resource lies outside of the repository."""
    return _REMOTE.search(resource) is not None


def _paths(folder: str, root: Node, key: str) -> tuple[str, ...]:
    texts = (item.value for item in _items(root, key))
    return tuple(text if remote(text) else _inside(folder, text) for text in texts)


def _patches(folder: str, root: Node) -> Iterator[Patch]:
    for item in _items(root, "patchesStrategicMerge"):
        inline = "\n" in item.value
        yield Patch(
            "" if inline else _inside(folder, item.value), item.value if inline else "", None
        )
    for key in ("patchesJson6902", "patches"):
        for item in _items(root, key):
            path = scalar(item, ("path",))
            yield Patch(
                _inside(folder, path) if path else "", scalar(item, ("patch",)), _selector(item)
            )


def _selector(item: Node) -> Selector | None:
    target = _child(item, "target")
    if target is None:
        return None
    kind, name, namespace = (scalar(target, (key,)) for key in ("kind", "name", "namespace"))
    labels = scalar(target, ("labelSelector",)) or scalar(target, ("annotationSelector",))
    return Selector(kind, name, namespace, by_label=bool(labels))


def _opaque(root: Node) -> Iterator[str]:
    yield from (key for key in _OPAQUE if _child(root, key))
    if any(_child(item, "tagSuffix") for item in _items(root, "images")):
        yield "tagSuffix"


def _labels(root: Node) -> Iterator[str]:
    selecting = (
        _child(item, "pairs")
        for item in _items(root, "labels")
        if scalar(item, ("includeSelectors",)) == "true"
    )
    blocks = (_child(root, "commonLabels"), *selecting)
    yield from (key.value for block in blocks if block for key, _ in block.pairs)


def _items(root: Node, key: str) -> tuple[Node, ...]:
    node = _child(root, key)
    return node.children if node and node.kind is NodeKind.SEQUENCE else ()


def _child(root: Node, key: str) -> Node | None:
    names = {name.value for name in root.children[::2]}
    if root.kind is NodeKind.MAPPING and names.isdisjoint((key, "<<")):
        return None
    try:
        return find(root, (key,))
    except PathMissing:
        return None


def _inside(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))


def _is_endless(word: str) -> bool:
    """Whether an expression may take for ever: repeated groups, or much that repeats."""
    return bool(_REPEATED.search(word)) or len(_REPEATS.findall(word)) > MOST_REPEATS


def _matches(word: str, value: str) -> bool:
    if _is_endless(word):
        return True
    if len(value) > LONGEST_NAME:
        return word == value
    try:
        return re.fullmatch(word, value) is not None
    except re.error:
        return word == value
