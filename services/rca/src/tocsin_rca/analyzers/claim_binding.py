"""Claims that find no volume: the class, access mode, size or labels, or a volume that is taken."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest, texts
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, ObjectRef, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.claims import Claim, Obstacle, obstacles, pending_claims, right_class
from tocsin_rca.evidence.concern import alert_id, sure
from tocsin_rca.evidence.hearing import quoted, subject
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.statements import Told, told

_SAID: dict[CauseClass, re.Pattern[str]] = {
    CauseClass.PVC_STORAGE_CLASS_NOT_FOUND: re.compile(
        r"(?i)(?:storage|\b)class(?:es)?(?:\.storage\.k8s\.io)? \\?\"(?P<name>[^\"\\]{1,253})\\?\""
        r" (?:is )?not found"
        r"|storageClassName does not match|failed to get storage ?class"
    ),
    CauseClass.PV_ALREADY_BOUND: re.compile(
        r"(?i)already bound to a different claim|is bound to (?:another|a different) claim"
        r"|already bound to claim|volume .{1,120} is not available for claim"
    ),
    CauseClass.PVC_ACCESS_MODE_MISMATCH: re.compile(
        r"(?i)incompatible access ?modes?|access ?modes? .{0,40}(?:does not match|not supported"
        r"|mismatch)"
        r"|MULTI_NODE_\w{5,20} (?:is )?not supported|only AccessModes?\[|(?:unsupported"
        r"|invalid) access ?modes?"
        r"|(?:only )?supports? (?:only )?(?:ReadWriteOnce\b|RWO\b|\[?SINGLE_NODE_WRITER)"
        r"|multi[- ]?writer .{0,60}(?:mount access type|not supported)"
        r"|not supported for access mode"
        r"|does not support .{0,20}(?:access mode|ReadWriteMany|ReadOnlyMany)"
    ),
    CauseClass.PVC_CAPACITY_MISMATCH: re.compile(
        r"(?i)requested PV is too small|requested (?:volume )?size .{0,60}(?:exceeds"
        r"|too (?:large|small)|out of range)"
        r"|(?:not enough|insufficient) (?:free )?(?:storage|space|capacity)"
        r"|did not have enough free storage"
        r"|volume size .{0,60}(?:exceeds|at least|between|is too)"
        r"|exceeds .{0,40}maximum (?:volume )?size"
    ),
    CauseClass.PVC_SELECTOR_MISMATCH: re.compile(
        r"(?i)claim\.Spec\.Selector is not supported|selector .{0,40}does not match"
    ),
}
_NO_CLASS = re.compile(r"no storage class is set")
_VOLUMES = re.compile(
    r"(?i)persistent ?volume|provision|FailedBinding|VolumeMismatch|storageclass|requested volume"
    r"|different claim"
)
_OF_STATIC = {
    Obstacle.CLASS: CauseClass.PVC_STORAGE_CLASS_NOT_FOUND,
    Obstacle.MODE: CauseClass.PVC_ACCESS_MODE_MISMATCH,
    Obstacle.SIZE: CauseClass.PVC_CAPACITY_MISMATCH,
    Obstacle.LABELS: CauseClass.PVC_SELECTOR_MISMATCH,
    Obstacle.TAKEN: CauseClass.PV_ALREADY_BOUND,
}
_REPLACE = "The specification of a claim cannot change: the claim has to be replaced."


@dataclass(frozen=True, slots=True)
class _Edit:
    path: FieldPath
    old: Scalar
    new: Scalar
    because: str


class ClaimBinding:
    """A claim stays unbound, and something says for which of the reasons."""

    name = "claim_binding"
    needs = (
        "The claims that are not bound, what is said of them, and the volumes and storage "
        "classes there are."
    )
    proof = (
        "A message names what is in the way: class, access mode, size, labels, another claim; or "
        "comparing claim and volumes shows it."
    )
    against = (
        "Volumes that carry the class that is said to be missing, messages that are not about "
        "volumes, a list of classes that may have gaps."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return what events say; where they say nothing, what comparing with the volumes tells."""
        found: dict[ObjectRef, Finding] = {one.object: one for one in _released(case)}
        for cause, pattern in _SAID.items():
            for one in told(case, pattern):
                if _is_of_volumes(one):
                    claim = _claim(case, one)
                    found.setdefault(claim, _said(case, cause, claim, one))
        compared = _compared(case)
        if compared and all(_is_about_class(one) for one in found.values()):
            return compared
        return tuple(found.values()) or compared or tuple(_without_class(case))[:1]


def _is_about_class(one: Finding) -> bool:
    """A class needs no object of its own where volumes that were made by hand carry its name."""
    return one.cause is CauseClass.PVC_STORAGE_CLASS_NOT_FOUND and one.change is None


def _released(case: Case) -> Iterator[Finding]:
    """The volume that the alert is about still belongs to a claim that is gone."""
    labels = case.alert.labels
    name = labels.get("persistentvolume", "")
    ref = ObjectRef(kind="PersistentVolume", name=name) if name else None
    seen = case.object(ref) if ref else None
    phase = seen.data.dig("status", "phase") if seen else labels.get("phase")
    if ref and phase == "Released":
        yield Finding(
            cause=CauseClass.PV_ALREADY_BOUND,
            object=ref,
            confidence=0.93,
            summary=f"{ref} is released, but still belongs to the claim that it served.",
            evidence=(seen.id,) if seen else alert_id(case),
            because="Whether its data may be given away is for a person to say.",
        )


def _is_of_volumes(one: Told) -> bool:
    kind = one.about.kind if one.about else ""
    of_claim = kind in ("PersistentVolumeClaim", "PersistentVolume")
    return of_claim or bool(_VOLUMES.search(f"{one.statement.reason} {one.statement.text}"))


def _without_class(case: Case) -> Iterator[Finding]:
    for one in told(case, _NO_CLASS):
        if one.about and one.about.kind == "PersistentVolumeClaim":
            found = _said(case, CauseClass.PVC_STORAGE_CLASS_NOT_FOUND, one.about, one)
            yield found.model_copy(update={"confidence": 0.8})
    yield from _unlisted(case)


def _unlisted(case: Case) -> Iterator[Finding]:
    """A claim waits for a class that is not among those that were listed, nor that of a volume."""
    listed = [one.data.ref.name for one in case.objects("StorageClass")]
    others = [
        one.data.dig("spec", "storageClassName") for one in case.manifests("PersistentVolume")
    ]
    for claim in pending_claims(case) if listed else ():
        asked = claim.manifest.dig("spec", "storageClassName")
        if asked and asked not in (*listed, *others):
            yield Finding(
                cause=CauseClass.PVC_STORAGE_CLASS_NOT_FOUND,
                object=claim.ref,
                confidence=0.85,
                summary=f"{claim.ref} wants storage class {asked}; there are {', '.join(listed)}.",
                evidence=(claim.id,),
                because="Nothing says that all classes were listed.",
            )


def _claim(case: Case, one: Told) -> ObjectRef:
    if one.about and one.about.kind == "PersistentVolumeClaim":
        return one.about
    pending = pending_claims(case)
    return pending[0].ref if pending else subject(case, one.about)


def _said(case: Case, cause: CauseClass, ref: ObjectRef, one: Told) -> Finding:
    edit = _edit(case, cause, ref)
    seen = case.manifest(ref)
    ids = [found.id for found in (seen, _class(case, edit)) if found]
    return Finding(
        cause=cause,
        object=ref,
        confidence=max(0.9, sure(case, one.about, 0.95)) if ref.kind != "Pod" else 0.9,
        summary=f"{ref} finds no volume: {quoted(one)}",
        evidence=tuple(dict.fromkeys((one.id, *ids))),
        change=FieldChange(object=ref, path=edit.path, old=edit.old, new=edit.new)
        if edit
        else None,
        because=edit.because if edit else "",
    )


def _edit(case: Case, cause: CauseClass, ref: ObjectRef) -> _Edit | None:
    seen = case.manifest(ref)
    if cause is not CauseClass.PVC_STORAGE_CLASS_NOT_FOUND or seen is None:
        return None
    old = seen.data.dig("spec", "storageClassName")
    right = right_class(case, str(old or ""))
    if not old or right in (None, old):
        return None
    return _Edit(
        ("spec", "storageClassName"), old, right, f"{right} is the class to use. {_REPLACE}"
    )


def _class(case: Case, edit: _Edit | None) -> Observation[Manifest] | None:
    """What shows the class that is to be used."""
    classes = case.objects("StorageClass") if edit else ()
    return next((one for one in classes if edit and one.data.ref.name == edit.new), None)


def _compared(case: Case) -> tuple[Finding, ...]:
    found = []
    for claim in pending_claims(case):
        for obstacle, volume in obstacles(case, claim):
            edit = _to_volume(claim, obstacle, volume.data)
            found.append(
                Finding(
                    cause=_OF_STATIC[obstacle],
                    object=claim.ref,
                    confidence=0.9 if edit else 0.86,
                    summary=f"{claim.ref} is not bound: {volume.data.ref} does not suit it"
                    f" ({obstacle.value}).",
                    evidence=(claim.id, volume.id),
                    change=edit,
                    because=f"It is what the volume offers. {_REPLACE}" if edit else "",
                )
            )
    return tuple(found[:1])


def _to_volume(claim: Claim, obstacle: Obstacle, volume: Manifest) -> FieldChange | None:
    path = _field(claim, obstacle, volume)
    if not path:
        return None
    offered = ("spec", "capacity", "storage") if obstacle is Obstacle.SIZE else path
    if obstacle is Obstacle.LABELS:
        return _change(claim, path, claim.manifest.dig(*path), volume.labels[str(path[-1])])
    return _change(claim, path, claim.manifest.dig(*path), volume.dig(*offered))


def _field(claim: Claim, obstacle: Obstacle, volume: Manifest) -> FieldPath:
    """Return the one field of the claim that keeps it from the volume; empty if it is not one."""
    modes = [len(one.dig("spec", "accessModes") or ()) for one in (claim.manifest, volume)]
    wanted = texts(claim.manifest.dig("spec", "selector", "matchLabels"))
    wrong = [k for k, value in wanted.items() if volume.labels.get(k, value) != value]
    fields: dict[Obstacle, FieldPath] = {
        Obstacle.CLASS: ("spec", "storageClassName"),
        Obstacle.SIZE: ("spec", "resources", "requests", "storage"),
        Obstacle.MODE: ("spec", "accessModes", 0) if modes == [1, 1] else (),
        Obstacle.LABELS: ("spec", "selector", "matchLabels", *wrong) if len(wrong) == 1 else (),
    }
    return fields.get(obstacle, ())


def _change(claim: Claim, path: FieldPath, old: Scalar, new: Scalar) -> FieldChange | None:
    if not claim.manifest.whole or old is None or not new or old == new:
        return None
    return FieldChange(object=claim.ref, path=path, old=old, new=new)
