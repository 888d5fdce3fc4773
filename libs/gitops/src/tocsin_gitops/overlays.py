"""Give a field another value in the one overlay that deploys an object, where its base is shared.

Each way is proved: looked for again, the object has the wanted value, and all others are as before.
"""

from collections.abc import Sequence

from tocsin_contracts import ChangeOp, Tree
from tocsin_gitops import entries, placing, trees
from tocsin_gitops.agreement import agrees, equal
from tocsin_gitops.editing import apply
from tocsin_gitops.kustomize import Kustomization
from tocsin_gitops.layers import setters
from tocsin_gitops.located import Located
from tocsin_gitops.overlay_ways import WAYS, Wanted, Way, below
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.yaml_nodes import EditRefused

_UNKNOWN = ("configurations", "openapi", "crds", "generators", "validators")
"""Sections of a kustomization that may give other sections another meaning, or make objects."""


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
    for find_way in WAYS:
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
        for other in wanted.checkout.deployed(document)
        if not placing.is_same(wanted.placement, other)
    ]
    shared = {layer.folder for other in others for layer in other.layers}
    for layer in wanted.placement.layers:
        if layer.folder not in shared and not layer.component:
            return layer
    raise EditRefused("no overlay is for this deployment alone")


def _refuse_unknown(checkout: Checkout, layer: Kustomization) -> None:
    for one in below(checkout, layer):
        keys = {key.value for key, _ in one.document.node.pairs}
        if unknown := [*one.opaque, *sorted(keys.intersection(_UNKNOWN))]:
            raise EditRefused(f"{one.file!r} uses {', '.join(unknown)}, which is not followed")
        for path in (*one.resources, *one.components):
            if path not in checkout.files and path not in checkout.kustomizations:
                raise EditRefused(f"{one.file!r} takes {path!r} from elsewhere")


def _proved(wanted: Wanted, way: Way, trace: Sequence[str]) -> Located:
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
    files |= {one.file: wanted.checkout.files[one.file] for one in below(wanted.checkout, outer)}
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
