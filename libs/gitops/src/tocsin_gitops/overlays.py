"""Give a field another value in the one overlay that deploys an object, where its base is shared.

Each way is proved: looked for again, the object has the wanted value, and all others are as before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tocsin_contracts import ChangeOp, FieldChange, FieldPath, ObjectRef, Tree
from tocsin_gitops import entries, images, patches, placing, trees
from tocsin_gitops.agreement import agrees, equal
from tocsin_gitops.editing import apply
from tocsin_gitops.field_tables import PODS
from tocsin_gitops.kustomize import Kustomization, Selector
from tocsin_gitops.layers import setters
from tocsin_gitops.located import Located
from tocsin_gitops.manifests import scalar
from tocsin_gitops.owners import Owner
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.splice import decode
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents, walk
from tocsin_gitops.yaml_paths import PathMissing, find, path_text

_SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
"""The kinds that an entry of `replicas` is for: all of them that have its name."""

_UNKNOWN = ("configurations", "openapi", "crds", "generators", "validators")
"""Sections of a kustomization that may give other sections another meaning, or make objects."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A field that its owner sets for others too, and how its object is deployed."""

    checkout: Checkout
    placement: Placement
    owner: Owner
    change: FieldChange


@dataclass(frozen=True, slots=True)
class _Way:
    """One edit of an overlay that may do it."""

    file: str
    document: ObjectRef
    path: FieldPath
    op: ChangeOp
    old: Tree
    new: Tree


def landing(wanted: Wanted, trace: Sequence[str]) -> Located:
    """Return the edit of the overlay; EditRefused if there is no one overlay, or no proof."""
    change, owner = wanted.change, wanted.owner
    if change.op is not ChangeOp.SET or isinstance(change.after, dict | list | None):
        raise EditRefused("an overlay is only given single values")
    if owner.effective is None:
        raise EditRefused("what it is now cannot be told")
    if not agrees(owner.effective, change) or equal(owner.effective, change.after, change.path):
        return _as_it_is(wanted, trace)
    layer = _overlay(wanted)
    _refuse_unknown(wanted.checkout, layer)
    wrong = list[EditRefused]()
    for find_way in (_image, _replicas, _in_patch, _patch):
        try:
            for way in find_way(wanted, layer):
                return _proved(wanted, way, trace)
        except EditRefused as refused:
            wrong.append(refused)
    raise wrong[-1] if wrong else EditRefused(f"nothing in {layer.file!r} could set just that")


def _as_it_is(wanted: Wanted, trace: Sequence[str]) -> Located:
    """What the files make is not what evidence saw: that is told, and nothing is edited."""
    owner, change = wanted.owner, wanted.change
    if owner.document is None:
        raise EditRefused(f"{owner}, which is not what the cluster runs")
    return Located(
        file=owner.file,
        document=owner.document.ref,
        path=owner.path,
        old=owner.effective,
        new=change.after,
        agrees=agrees(owner.effective, change),
        trace=tuple(trace),
    )


def _overlay(wanted: Wanted) -> Kustomization:
    """Return the innermost kustomization on the way that only this deployment goes through."""
    document = wanted.placement.document
    others = [
        other
        for other in wanted.checkout.deployments(document.ref.kind)
        if other.document is document and not placing.is_same(wanted.placement, other)
    ]
    shared = {layer.folder for other in others for layer in other.layers}
    for layer in wanted.placement.layers:
        if layer.folder not in shared and not layer.component:
            return layer
    raise EditRefused("no overlay is for this deployment alone")


def _refuse_unknown(checkout: Checkout, layer: Kustomization) -> None:
    for one in _below(checkout, layer):
        keys = {key.value for key, _ in one.document.node.pairs}
        if unknown := [*one.opaque, *sorted(keys.intersection(_UNKNOWN))]:
            raise EditRefused(f"{one.file!r} uses {', '.join(unknown)}, which is not followed")
        for path in (*one.resources, *one.components):
            if path not in checkout.files and path not in checkout.kustomizations:
                raise EditRefused(f"{one.file!r} takes {path!r} from elsewhere")


def _below(checkout: Checkout, layer: Kustomization) -> list[Kustomization]:
    reached = checkout.reached(layer)
    inner = [one for folder, one in checkout.kustomizations.items() if folder in reached]
    return [layer, *inner]


def _image(wanted: Wanted, layer: Kustomization) -> Iterator[_Way]:
    now, new = (images.parse(str(v)) for v in (wanted.owner.effective, wanted.change.after))
    if wanted.change.path[-1] != "image" or now.name != new.name:
        return
    if any(now.name in (one.name, one.new_name) for one in layer.images):
        raise EditRefused(f"{layer.file!r} has an entry for that image already")
    if (uses := _uses(wanted.checkout, layer, now.name)) != 1:
        raise EditRefused(f"{uses} places below {layer.folder!r} may use that image")
    yield _added(layer, "images", entries.image(str(new)))


def _uses(checkout: Checkout, layer: Kustomization, name: str) -> int:
    """Count what may hold an image of that name, or one that becomes it, below a layer."""
    below, names = _below(checkout, layer), {name}
    known = [entry for one in below for entry in one.images if entry.new_name]
    for _ in known:
        names |= {entry.name for entry in known if entry.new_name in names}
    files = [file for file in checkout.reached(layer) if file in checkout.files]
    texts = [decode(checkout.files[file])[1] for file in files]
    texts += [patch.text for one in below for patch in one.patches if patch.text]
    roots = (root for text in texts for root in documents(text))
    pairs = (pair for root in roots for node in walk(root) for pair in _pairs(node))
    return sum(key in ("image", "value") and images.parse(v).name in names for key, v in pairs)


def _pairs(node: Node) -> list[tuple[str, str]]:
    if node.kind is not NodeKind.MAPPING:
        return []
    return [(key.value, value.value) for key, value in node.pairs]


def _replicas(wanted: Wanted, layer: Kustomization) -> Iterator[_Way]:
    kind, name = wanted.placement.document.ref.kind, _name(wanted, layer)
    if wanted.change.path != ("spec", "replicas") or kind not in _SCALED:
        return
    built = [one for k in _SCALED for one in wanted.checkout.built(layer.folder, k)]
    if sum(name in one.names for one in built) != 1:
        raise EditRefused(f"several objects below {layer.folder!r} are called {name!r}")
    yield _added(layer, "replicas", entries.replicas(name, wanted.change.new))


def _in_patch(wanted: Wanted, layer: Kustomization) -> Iterator[_Way]:
    change, kind = wanted.change, wanted.placement.document.ref.kind
    if not entries.mergeable(kind, change.path, PODS):
        return
    for file, document in patches.taking(wanted.checkout, layer, wanted.placement):
        if _has_list_item(document.node, change.path):
            yield _Way(file, document.ref, change.path, ChangeOp.INSERT, None, change.after)


def _has_list_item(root: Node, path: FieldPath) -> bool:
    last = max((n for n, step in enumerate(path) if str(step).startswith("[")), default=-1)
    try:
        find(root, path[: last + 1])
    except PathMissing:
        return False
    return True


def _patch(wanted: Wanted, layer: Kustomization) -> Iterator[_Way]:
    document, change = wanted.placement.document, wanted.change
    kind, name = document.ref.kind, _name(wanted, layer)
    if not entries.mergeable(kind, change.path, PODS):
        raise EditRefused(f"a patch of {path_text(change.path)} might replace what is around it")
    selector = Selector(kind, name, "", by_label=False)
    built = wanted.checkout.built(layer.folder, kind)
    if sum(selector.picks(kind, one.names, one.namespaces) for one in built) != 1:
        raise EditRefused(f"a patch for {kind} {name} would reach others too")
    version = scalar(document.node, ("apiVersion",))
    if not version:
        raise EditRefused(f"{document.file!r} does not say its apiVersion")
    entry = entries.patch(version, kind, name, (change.path, change.after))
    yield _added(layer, "patches", entry)


def _name(wanted: Wanted, layer: Kustomization) -> str:
    """Return what the object is called when it comes to a layer."""
    return wanted.placement.names[2 * wanted.placement.layers.index(layer)]


def _added(layer: Kustomization, section: str, entry: Tree) -> _Way:
    place = (layer.file, layer.document.ref, (section,))
    try:
        held = trees.read(find(layer.document.node, (section,)))
    except PathMissing:
        return _Way(*place, ChangeOp.INSERT, None, [entry])
    return _Way(*place, ChangeOp.APPEND, held, entry)


def _proved(wanted: Wanted, way: _Way, trace: Sequence[str]) -> Located:
    change = wanted.change.model_copy(update={"undo_of": ""})
    told = f"{wanted.owner}, for others too; {way.file!r} is for this deployment alone"
    located = Located(
        file=way.file,
        document=way.document,
        path=way.path,
        old=way.old,
        new=way.new,
        agrees=True,
        trace=(*trace, told, "followed again, that and nothing else changes"),
        op=way.op,
        renders=change,
    )
    if wrong := entries.fault(located.edit, change):
        raise EditRefused(wrong)
    outer = wanted.placement.layers[-1]
    reached = wanted.checkout.reached(outer)
    files = {f: d for f, d in wanted.checkout.files.items() if f in reached}
    files |= {one.file: wanted.checkout.files[one.file] for one in _below(wanted.checkout, outer)}
    before, after = (
        _effective(one, outer.folder, wanted)
        for one in (files, files | apply(files, (located.edit,)))
    )
    mine = _key(wanted.placement)
    if before.keys() != after.keys() or not equal(after[mine], change.after, change.path):
        raise EditRefused(f"changed in {way.file!r}, something else would still win")
    if any(not trees.same(before[key], after[key]) for key in before if key != mine):
        raise EditRefused(f"changed in {way.file!r}, other objects would change as well")
    return located


def _effective(files: dict[str, bytes], folder: str, wanted: Wanted) -> dict[tuple[str, ...], Tree]:
    """Return what each object of the kind has in the field, by the way it is deployed."""
    checkout, found = Checkout(files), {}
    for one in checkout.built(folder, wanted.placement.document.ref.kind):
        last = list(setters(checkout, one, wanted.change.path))[-1:]
        found[_key(one)] = last[0].effective if last else None
    return found


def _key(placement: Placement) -> tuple[str, ...]:
    through = (layer.folder for layer in placement.layers)
    return (str(placement), placement.name, *through)
