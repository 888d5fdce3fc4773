"""Tell which patches of a kustomization set a field, and which of them an edit can reach."""

from collections.abc import Iterator
from dataclasses import replace

from tocsin_contracts import FieldPath
from tocsin_gitops import manifests
from tocsin_gitops.field_tables import MERGED
from tocsin_gitops.kustomize import Kustomization, Patch
from tocsin_gitops.manifests import Document, scalar
from tocsin_gitops.owners import Owner, held
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.splice import decode
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents, walk
from tocsin_gitops.yaml_paths import PathMissing, find, is_key


def setters(
    checkout: Checkout,
    layer: Kustomization,
    placement: Placement,
    path: FieldPath,
    *,
    inside: bool = True,
) -> Iterator[Owner]:
    """Yield the patches that set the field, in the order kustomize applies them.

    A JSON patch counts where it sets a part of the field too, unless `inside` is left out of
    account. EditRefused means that a patch cannot be read, so nobody knows what it sets.
    """
    kind = placement.document.ref.kind
    for patch in layer.patches:
        file = patch.file or layer.file
        for root, document in _parts(checkout, layer, patch):
            owner = None
            if _meant(patch, root, placement):
                owner = _effect(file, root, document, path, inside=inside)
                owner = owner or _replaced(file, root, document, (kind, path))
            if owner:
                yield replace(owner, blocked=owner.blocked or _obstacle(patch, owner, kind))


def taking(
    checkout: Checkout, layer: Kustomization, placement: Placement
) -> Iterator[tuple[str, Document]]:
    """Yield the patch files that are for this object and no other, the last one first.

    EditRefused means that a patch cannot be read.
    """
    kind = placement.document.ref.kind
    known = checkout.built(layer.folder, kind)
    for patch in reversed(layer.patches):
        if not patch.file or not _is_used_once(checkout, patch.file):
            continue
        for root, document in _parts(checkout, layer, patch):
            single = sum(_meant(patch, root, one) for one in known) == 1
            if not single or not _meant(patch, root, placement) or document is None:
                continue
            plain = root.kind is NodeKind.MAPPING and document.ref.kind == kind
            if plain and not _directs(root) and not _unsure(patch, kind):
                yield patch.file, document


def _is_used_once(checkout: Checkout, file: str) -> bool:
    layers = checkout.kustomizations.values()
    return sum(one.uses.count(file) for one in layers) == 1


def _parts(
    checkout: Checkout, layer: Kustomization, patch: Patch
) -> Iterator[tuple[Node, Document | None]]:
    if not patch.file:
        yield from ((root, None) for root in documents(patch.text))
        return
    data = checkout.files.get(patch.file)
    if data is None:
        raise EditRefused(f"{layer.file!r} names the patch {patch.file!r}, which is not there")
    try:
        named = {document.index: document for document in manifests.read(patch.file, data)}
        yield from ((r, named.get(i)) for i, r in enumerate(documents(decode(data)[1])))
    except EditRefused as refused:
        raise EditRefused(f"{patch.file!r}: {refused}") from refused


def _meant(patch: Patch, root: Node, placement: Placement) -> bool:
    kind = placement.document.ref.kind
    if patch.selector:
        return patch.selector.picks(kind, placement.names, placement.namespaces)
    named = scalar(root, ("metadata", "name")) in placement.names
    where = scalar(root, ("metadata", "namespace"))
    return named and scalar(root, ("kind",)) == kind and where in ("", *placement.namespaces)


def _effect(
    file: str, root: Node, document: Document | None, path: FieldPath, *, inside: bool
) -> Owner | None:
    if root.kind is NodeKind.SEQUENCE:
        return _operated(file, root, path, inside=inside)
    if _directs(root):
        why = f"{file!r} is a patch with directives such as $patch, which are not followed"
        return Owner(file, document, path, None, None, blocked=why)
    index = next((i for i, step in enumerate(path) if isinstance(step, int)), None)
    if index is None:
        return held(file, root, document, path)
    if not _holds(root, path[:index]):
        return None
    why = f"{file!r} patches the list, so that the position of an item says nothing"
    return Owner(file, document, path, None, None, blocked=why)


def _replaced(
    file: str, root: Node, document: Document | None, field: tuple[str, FieldPath]
) -> Owner | None:
    """Return a patch that takes a field away: of some kinds it replaces lists, and merges none."""
    kind, path = field
    chosen = next((place for place, step in enumerate(path) if not is_key(step)), None)
    whole = root.kind is NodeKind.MAPPING and kind not in MERGED
    if not whole or chosen is None or not _holds(root, path[:chosen]):
        return None
    why = f"{file!r} replaces all of the list, so that the field is not in what is deployed"
    return Owner(file, document, path, None, None, blocked=why)


def _directs(root: Node) -> bool:
    return any(node.value.startswith("$") and node.style is None for node in walk(root))


def _operated(file: str, operations: Node, path: FieldPath, *, inside: bool) -> Owner | None:
    for operation in operations.children:
        pointer = scalar(operation, ("path",)).strip("/").split("/")
        if scalar(operation, ("op",)) != "test" and (
            _reaches(pointer, path) and (inside or len(pointer) <= len(path))
        ):
            why = f"{file!r} sets it by a JSON patch, which has no document to edit"
            return Owner(file, None, path, None, None, blocked=why)
    return None


def _reaches(pointer: list[str], path: FieldPath) -> bool:
    """Whether a JSON pointer names the field, or what is around or in it; any index may fit."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer]
    pairs = zip(steps, path, strict=False)
    return all(a == str(b) or _may_be(a, b) for a, b in pairs)


def _may_be(index: str, step: str | int) -> bool:
    return index.isdigit() and isinstance(step, str) and step.startswith("[")


def _holds(root: Node, path: FieldPath) -> bool:
    try:
        find(root, path)
    except PathMissing:
        return False
    return True


def _obstacle(patch: Patch, owner: Owner, kind: str) -> str:
    if not patch.file:
        return f"{owner.file!r} sets it in a patch that is text inside of the file"
    if _unsure(patch, kind):
        return f"{owner.file!r} is a patch of which nobody can tell here what all it is for"
    if owner.document is None:
        return f"{owner.file!r} is a patch without a name to find it by"
    return ""


def _unsure(patch: Patch, kind: str) -> bool:
    """Whether it selects what it is for, and by more than can be judged here."""
    chosen = patch.selector
    return chosen is not None and (chosen.unclear or chosen.kind != kind)
