"""The edits of an overlay that may give one field of one object another value, the best first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tocsin_contracts import ChangeOp, FieldChange, FieldPath, ObjectRef, Tree
from tocsin_gitops import entries, images, patches, trees
from tocsin_gitops.field_tables import MERGED
from tocsin_gitops.kustomize import SCALED, Kustomization, Selector
from tocsin_gitops.layers import setters
from tocsin_gitops.manifests import scalar
from tocsin_gitops.owners import Owner
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.splice import decode
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents, walk
from tocsin_gitops.yaml_paths import PathMissing, find, path_text

_ORDERED = ("containers", "initContainers")
"""Lists of which the order counts, and that kustomize begins with what a patch holds."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A field that its owner sets for others too, and how its object is deployed."""

    checkout: Checkout
    placement: Placement
    owner: Owner
    change: FieldChange


@dataclass(frozen=True, slots=True)
class Way:
    """One edit of an overlay that may do it."""

    file: str
    document: ObjectRef
    path: FieldPath
    op: ChangeOp
    old: Tree
    new: Tree


def below(checkout: Checkout, layer: Kustomization) -> list[Kustomization]:
    """Return a layer and all that it is made of."""
    reached = checkout.reached(layer)
    inner = [one for folder, one in checkout.kustomizations.items() if folder in reached]
    return [layer, *inner]


def _image(wanted: Wanted, layer: Kustomization) -> Iterator[Way]:
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
    layers, names = below(checkout, layer), {name}
    known = [entry for one in layers for entry in one.images if entry.new_name]
    for _ in known:
        names |= {entry.name for entry in known if entry.new_name in names}
    files = [file for file in checkout.reached(layer) if file in checkout.files]
    texts = [decode(checkout.files[file])[1] for file in files]
    texts += [patch.text for one in layers for patch in one.patches if patch.text]
    roots = (root for text in texts for root in documents(text))
    pairs = (pair for root in roots for node in walk(root) for pair in _pairs(node))
    return sum(key in ("image", "value") and images.parse(v).name in names for key, v in pairs)


def _pairs(node: Node) -> list[tuple[str, str]]:
    if node.kind is not NodeKind.MAPPING:
        return []
    return [(key.value, value.value) for key, value in node.pairs]


def _replicas(wanted: Wanted, layer: Kustomization) -> Iterator[Way]:
    kind, name = wanted.placement.document.ref.kind, _name(wanted, layer)
    if wanted.change.path != ("spec", "replicas") or kind not in SCALED:
        return
    built = [one for k in SCALED for one in wanted.checkout.built(layer.folder, k)]
    if sum(name in one.names for one in built) != 1:
        raise EditRefused(f"several objects below {layer.folder!r} are called {name!r}")
    yield _added(layer, "replicas", entries.replicas(name, wanted.change.new))


def _in_patch(wanted: Wanted, layer: Kustomization) -> Iterator[Way]:
    change, kind = wanted.change, wanted.placement.document.ref.kind
    if not entries.mergeable(kind, change.path, MERGED):
        return
    for file, document in patches.taking(wanted.checkout, layer, wanted.placement):
        if _has_list_item(document.node, change.path):
            yield Way(file, document.ref, change.path, ChangeOp.INSERT, None, change.after)


def _has_list_item(root: Node, path: FieldPath) -> bool:
    last = max((n for n, step in enumerate(path) if str(step).startswith("[")), default=-1)
    try:
        find(root, path[: last + 1])
    except PathMissing:
        return False
    return True


def _patch(wanted: Wanted, layer: Kustomization) -> Iterator[Way]:
    document, change = wanted.placement.document, wanted.change
    kind, name = document.ref.kind, _name(wanted, layer)
    if not entries.mergeable(kind, change.path, MERGED):
        raise EditRefused(f"a patch of {path_text(change.path)} might replace what is around it")
    selector = Selector(kind, name, "", by_label=False)
    built = wanted.checkout.built(layer.folder, kind)
    if sum(selector.picks(kind, one.names, one.namespaces) for one in built) != 1:
        raise EditRefused(f"a patch for {kind} {name} would reach others too")
    if moved := _moved(wanted, layer):
        raise EditRefused(f"a patch would bring {moved} to the front of its list")
    version = scalar(document.node, ("apiVersion",))
    if not version:
        raise EditRefused(f"{document.file!r} does not say its apiVersion")
    entry = entries.patch(version, kind, name, (change.path, change.after))
    yield _added(layer, "patches", entry)


def _moved(wanted: Wanted, layer: Kustomization) -> str:
    """Return the container on the way to the field that a patch would start before others."""
    way, path = wanted.placement, wanted.change.path
    inner = replace(way, layers=way.layers[: way.layers.index(layer) + 1])
    for place, step in enumerate(path):
        if place and path[place - 1] in _ORDERED and isinstance(step, str):
            for known in setters(wanted.checkout, inner, path[:place]):
                if not isinstance(known.value, list) or not _begins(known.value, step):
                    return path_text(path[: place + 1])
    return ""


def _begins(items: list[Tree], step: str) -> bool:
    first = items[0] if items else None
    return isinstance(first, dict) and step == f"[name={first.get('name')}]"


def _name(wanted: Wanted, layer: Kustomization) -> str:
    """Return what the object is called when it comes to a layer."""
    return wanted.placement.names[2 * wanted.placement.layers.index(layer)]


def _added(layer: Kustomization, section: str, entry: Tree) -> Way:
    place = (layer.file, layer.document.ref, (section,))
    try:
        held = trees.read(find(layer.document.node, (section,)))
    except PathMissing:
        return Way(*place, ChangeOp.INSERT, None, [entry])
    return Way(*place, ChangeOp.APPEND, held, entry)


WAYS = (_image, _replicas, _in_patch, _patch)
"""Each yields the edits that it knows, or says why there is none."""
