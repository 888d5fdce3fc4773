"""The next size of a claim that is full: its own, or that of the template it was made from."""

from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import FieldChange, FieldPath
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.memory import doubled
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import Remedy

_SIZE = ("resources", "requests", "storage")
_CLASS = "storageClassName"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def grown(case: Case, holder: Observation[Manifest], claim: str) -> Remedy | None:
    """Return the next usual size, unless a class that was seen does not let volumes grow.

    `holder` is the claim, or the StatefulSet of which a claim of that name was made.
    """
    places = tuple(_places(holder, claim))
    if len(places) != 1:
        return None
    path = places[0]
    size, name = holder.data.dig(*path, *_SIZE), holder.data.dig(*path, _CLASS)
    larger, grows = doubled(size) if size else None, _grows(case, name)
    if larger is None or grows is False:
        return None
    change = FieldChange(object=holder.data.ref, path=(*path, *_SIZE), old=size, new=larger)
    because = "Its class can grow volumes; this is the next size."
    if grows is None:
        because = (
            "This is the next size. Its class was not seen: look first whether it can grow volumes."
        )
    if holder.data.ref.kind == "StatefulSet":
        because += " Claims that exist do not grow with it: give them the same size."
    return Remedy((change,), because, (holder.id,))


def _places(holder: Observation[Manifest], claim: str) -> Iterator[FieldPath]:
    if holder.data.ref.kind == "PersistentVolumeClaim":
        yield ("spec",)
    for at, one in enumerate(holder.data.items("spec", "volumeClaimTemplates")):
        made = f"{(one.get('metadata') or {}).get('name')}-{holder.data.ref.name}-"
        if not claim or claim.startswith(made):
            yield ("spec", "volumeClaimTemplates", at, "spec")


def _grows(case: Case, name: object) -> bool | None:
    """Whether the class of a claim lets volumes grow; None if no class was seen at all."""
    classes = case.objects("StorageClass")
    if not classes:
        return None
    named = [
        one.data
        for one in classes
        if one.data.ref.name == name
        or (name is None and str(one.data.dig("metadata", "annotations", _DEFAULT)) == "true")
    ]
    return any(one.dig("allowVolumeExpansion") is True for one in named)
