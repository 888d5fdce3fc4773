"""Follow every manifest through the kustomizations that deploy it, to its final name and place."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from tocsin_gitops import kustomize, manifests, naming
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
        return tuple(self._leading.get(file, ()))

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

    def placements(self, kind: str, name: str) -> tuple[Placement, ...]:
        """Return every way in which an object of that kind and final name is deployed.

        EditRefused if kustomizations are more entangled than anybody could follow.
        """
        found = (*self._deployments(kind, self._holds(name)), *self._plain(kind, name))
        return tuple(placement for placement in found if placement.name == name)

    def deployed(self, document: Document) -> tuple[Placement, ...]:
        """Return every way in which kustomizations deploy a document; EditRefused as above."""
        found = self._deployments(document.ref.kind, lambda file, _: file == document.file)
        return tuple(placement for placement in found if placement.document is document)

    def deployed_through(self, file: str, kind: str) -> tuple[Placement, ...]:
        """Return every object of that kind that goes through a layer which is, or names, a file.

        EditRefused as above.
        """
        naming_it = self._naming(file)
        return self._deployments(kind, lambda _, way: not naming_it.isdisjoint(way))

    def built(self, folder: str, kind: str, name: str = "") -> tuple[Placement, ...]:
        """Return every object of that kind, and final name if any, that a folder deploys.

        EditRefused if its kustomization is more entangled than anybody could follow.
        """
        self._steps = 0
        layer = self.kustomizations.get(folder)
        found = self._built(layer, kind, self._holds(name), ()) if layer else ()
        return tuple(placement for placement in found if name in ("", placement.name))

    def written(self, file: str, kind: str) -> Iterator[Placement]:
        """Yield the objects of that kind as a file writes them."""
        if kind.encode() not in self.files[file]:
            return
        for document in self.documents(file):
            if document.ref.kind == kind:
                yield Placement(document, (document.ref.name,), (document.ref.namespace,))

    def _deployments(self, kind: str, wanted: "_Wanted") -> tuple[Placement, ...]:
        self._steps = 0
        layers = self.kustomizations.values()
        roots = (k for k in layers if k.folder not in self._listed and not k.component)
        return tuple(p for k in roots for p in self._built(k, kind, wanted, ()))

    def _built(
        self, layer: Kustomization, kind: str, wanted: "_Wanted", outer: tuple[str, ...]
    ) -> Iterator[Placement]:
        if layer.folder in outer:
            return
        way = (*outer, layer.folder)
        found = [p for path in layer.resources for p in self._resource(path, kind, wanted, way)]
        for path in layer.components:
            component = self.kustomizations.get(path)
            if component and path not in way:
                inner = self._built(component, kind, wanted, way)
                found = [*self._joined(component, found, way), *inner]
        yield from (p.through(layer) for p in found)

    def _resource(
        self, path: str, kind: str, wanted: "_Wanted", outer: tuple[str, ...]
    ) -> Iterator[Placement]:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise EditRefused(f"{outer[0]!r} leads to {path!r} in more ways than can be followed")
        if path in self.kustomizations:
            yield from self._built(self.kustomizations[path], kind, wanted, outer)
        elif path in self.files and wanted(path, outer):
            yield from self.written(path, kind)

    def _joined(
        self, component: Kustomization, found: Iterable[Placement], outer: tuple[str, ...]
    ) -> list[Placement]:
        """Take what is there already through a component, and through its own ones before that."""
        way = (*outer, component.folder)
        for path in component.components:
            inner = self.kustomizations.get(path)
            if inner and path not in way:
                found = self._joined(inner, found, way)
        return [p.through(component) for p in found]

    def _plain(self, kind: str, name: str) -> Iterator[Placement]:
        """What no kustomization lists; beside one that does not list it, nothing deploys it."""
        for file, data in self.files.items():
            in_layer = manifests.folder(file) in self.kustomizations
            if not in_layer and file not in self._listed and name.encode() in data:
                yield from self.written(file, kind)

    def _holds(self, name: str) -> "_Wanted":
        """Which files may write an object of that final name; any may if there is no name."""
        if not name:
            return lambda *_: True
        layers = self.kustomizations.values()
        renamed = any(layer.prefix or layer.suffix for layer in layers)
        return lambda file, _: naming.may_be_in(self.files[file], name, renamed=renamed)

    def _naming(self, file: str) -> frozenset[str]:
        """The folders of the layers that are or name a file, by their components too."""
        layers = self.kustomizations.values()
        found = {k.folder for k in layers if file == k.file or file in k.uses}
        while more := {k.folder for k in layers if not found.isdisjoint(k.components)} - found:
            found |= more
        return frozenset(found)

    @cached_property
    def _leading(self) -> dict[str, list[Kustomization]]:
        """The kustomizations that use each file or folder, directly or through other ones."""
        found = dict[str, list[Kustomization]]()
        for layer in self.kustomizations.values():
            for path in self.reached(layer):
                found.setdefault(path, []).append(layer)
        return found

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


_Wanted = Callable[[str, tuple[str, ...]], bool]
"""Whether a file is worth reading, and the folders that lead to it, the outermost first."""
