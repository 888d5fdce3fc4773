"""Follow every manifest through the kustomizations that deploy it, to its final name and place."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from tocsin_gitops import kustomize, manifests
from tocsin_gitops.kustomize import Kustomization
from tocsin_gitops.manifests import Document
from tocsin_gitops.yaml_nodes import EditRefused

MOST_STEPS = 200_000
"""Folders and files that are gone through for one question: layers of layers double each time."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One way a document is deployed: through which layers, innermost first, and as what.

    Names and namespaces begin as written in the document and end as deployed.
    """

    document: Document
    names: tuple[str, ...]
    namespaces: tuple[str, ...]
    layers: tuple[Kustomization, ...] = ()

    @property
    def name(self) -> str:
        """The name of the deployed object."""
        return self.names[-1]

    @property
    def namespace(self) -> str:
        """The namespace of the deployed object; empty where nothing names one."""
        return self.namespaces[-1]

    def through(self, layer: Kustomization) -> "Placement":
        """Return the placement after one more kustomization."""
        prefixed = f"{layer.prefix}{self.name}"
        return replace(
            self,
            names=(*self.names, prefixed, f"{prefixed}{layer.suffix}"),
            namespaces=(*self.namespaces, layer.namespace or self.namespace),
            layers=(*self.layers, layer),
        )

    def __str__(self) -> str:
        """Say where it comes from, as people would look for it."""
        way = self.layers[-1:] and f" through {self.layers[-1].folder}"
        place = f"namespace {self.namespace}" if self.namespace else "no namespace"
        return f"{self.document.file}{way or ''} ({place})"


class Checkout:
    """The manifests of a repository at one commit, read when they are asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = {path: files[path] for path in sorted(files) if manifests.is_yaml(path)}
        self.unreadable: dict[str, str] = {}
        self._documents: dict[str, tuple[Document, ...]] = {}
        self._deployments: dict[str, tuple[Placement, ...]] = {}
        self._steps = 0

    @cached_property
    def kustomizations(self) -> dict[str, Kustomization]:
        """Every readable kustomization by its folder."""
        found = {}
        for file in filter(manifests.is_kustomization, self.files):
            try:
                layer = kustomize.read(file, self.files[file])
            except EditRefused as refused:
                self.unreadable[file] = str(refused)
            else:
                found[layer.folder] = layer
        return found

    def leading_to(self, file: str) -> tuple[Kustomization, ...]:
        """Return the kustomizations that use a file, directly or through other ones."""
        return tuple(k for k in self.kustomizations.values() if file in self.reached(k))

    def reached(self, start: Kustomization) -> set[str]:
        """Return every folder and file that a kustomization uses, directly or through others."""
        reached, waiting = set[str](), [start]
        while waiting:
            new = set(waiting.pop().uses) - reached
            waiting += [self.kustomizations[path] for path in new if path in self.kustomizations]
            reached |= new
        return reached

    def documents(self, file: str) -> tuple[Document, ...]:
        """Return the objects of a file; one that cannot be read is remembered with the reason."""
        if file not in self._documents:
            try:
                self._documents[file] = manifests.read(file, self.files[file])
            except EditRefused as refused:
                self.unreadable[file] = str(refused)
                self._documents[file] = ()
        return self._documents[file]

    def deployments(self, kind: str) -> tuple[Placement, ...]:
        """Return every object of that kind that kustomizations deploy, once per deployment.

        EditRefused if they are more entangled than anybody could follow.
        """
        if kind not in self._deployments:
            self._steps = 0
            layers = self.kustomizations.values()
            roots = (k for k in layers if k.folder not in self._listed and not k.component)
            self._deployments[kind] = tuple(p for k in roots for p in self._built(k, kind, ()))
        return self._deployments[kind]

    def placements(self, kind: str, name: str) -> tuple[Placement, ...]:
        """Return every way in which an object of that kind and final name is deployed."""
        found = (*self.deployments(kind), *self._plain(kind, name))
        return tuple(placement for placement in found if placement.name == name)

    def built(self, folder: str, kind: str) -> tuple[Placement, ...]:
        """Return every object of that kind that the kustomization of a folder deploys.

        EditRefused if it is more entangled than anybody could follow.
        """
        self._steps = 0
        layer = self.kustomizations.get(folder)
        return tuple(self._built(layer, kind, ())) if layer else ()

    def written(self, file: str, kind: str) -> Iterator[Placement]:
        """Yield the objects of that kind as a file writes them."""
        if kind.encode() not in self.files[file]:
            return
        for document in self.documents(file):
            if document.ref.kind == kind:
                yield Placement(document, (document.ref.name,), (document.ref.namespace,))

    def _built(
        self, layer: Kustomization, kind: str, outer: tuple[str, ...]
    ) -> Iterator[Placement]:
        if layer.folder in outer:
            return
        way = (*outer, layer.folder)
        found = [p for path in layer.resources for p in self._resource(path, kind, way)]
        for path in layer.components:
            component = self.kustomizations.get(path)
            if component:
                inner = [p for r in component.resources for p in self._resource(r, kind, way)]
                found = [p.through(component) for p in (*found, *inner)]
        yield from (p.through(layer) for p in found)

    def _resource(self, path: str, kind: str, outer: tuple[str, ...]) -> Iterator[Placement]:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise EditRefused(f"{outer[0]!r} leads to {path!r} in more ways than can be followed")
        if path in self.kustomizations:
            yield from self._built(self.kustomizations[path], kind, outer)
        elif path in self.files:
            yield from self.written(path, kind)

    def _plain(self, kind: str, name: str) -> Iterator[Placement]:
        """What no kustomization lists; beside one that does not list it, nothing deploys it."""
        for file, data in self.files.items():
            in_layer = manifests.folder(file) in self.kustomizations
            if not in_layer and file not in self._listed and name.encode() in data:
                yield from self.written(file, kind)

    @cached_property
    def remote(self) -> tuple[str, ...]:
        """What kustomizations take from elsewhere; it is never fetched."""
        return tuple(path for path in self._used if kustomize.remote(path))

    @cached_property
    def _used(self) -> tuple[str, ...]:
        layers = self.kustomizations.values()
        used = {path for layer in layers for path in (*layer.resources, *layer.components)}
        return tuple(sorted(used))

    @cached_property
    def _listed(self) -> frozenset[str]:
        patches = (patch.file for k in self.kustomizations.values() for patch in k.patches)
        return frozenset((*self._used, *patches))
