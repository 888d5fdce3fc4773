"""Fields that a cluster refuses to change: the object has to be deleted and made anew."""

from collections.abc import Iterable

from tocsin_contracts import Edit, EditOp, FieldPath

_FIXED: dict[str, tuple[tuple[str, ...], ...]] = {
    "Job": (("spec", "template"), ("spec", "selector"), ("spec", "completions")),
    "PersistentVolumeClaim": (("spec",),),
    "StatefulSet": (
        *(("spec", "selector"), ("spec", "serviceName"), ("spec", "volumeClaimTemplates")),
        ("spec", "podManagementPolicy"),
    ),
    "Deployment": (("spec", "selector"),),
    "DaemonSet": (("spec", "selector"),),
    "ReplicaSet": (("spec", "selector"),),
    "Pod": (("spec",),),
}
_FREE: dict[str, tuple[tuple[str, ...], ...]] = {
    "PersistentVolumeClaim": (("spec", "resources", "requests"),),
    "Pod": (("spec", "activeDeadlineSeconds"), ("spec", "tolerations")),
}


def replaced(edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return a sentence for each object of which a field cannot be changed in place."""
    names = {
        f"{edit.of.kind} {edit.of.name}": None for edit in edits if edit.of and _is_fixed(edit)
    }
    return tuple(
        f"A cluster does not change this of {name} in place: after the merge the object has to be "
        "deleted and made anew, and what it holds may be lost."
        for name in names
    )


def _is_fixed(edit: Edit) -> bool:
    kind = edit.of.kind if edit.of else ""
    image = kind == "Pod" and edit.op is EditOp.SET and edit.at[-1:] == ("image",)
    free = image or _below(edit.at, _FREE.get(kind, ()))
    return not free and _below(edit.at, _FIXED.get(kind, ()))


def _below(path: FieldPath, places: tuple[tuple[str, ...], ...]) -> bool:
    return any(path[: len(place)] == place for place in places)
