"""Claims that are not bound, and what keeps the volumes that were seen from them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tocsin_cluster.manifest import Manifest, texts
from tocsin_contracts import ObjectRef
from tocsin_gitops import quantity
from tocsin_rca.evidence.alerted import alert_text
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.likeness import meant
from tocsin_rca.evidence.observation import Observation


class Obstacle(Enum):
    """Why a claim cannot have a volume."""

    CLASS = "storage class"
    MODE = "access mode"
    SIZE = "capacity"
    LABELS = "labels"
    TAKEN = "claimed by another"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that waits for a volume: what the cluster shows, with what files declare of it."""

    id: str
    manifest: Manifest

    @property
    def ref(self) -> ObjectRef:
        """Which claim it is."""
        return self.manifest.ref


def pending_claims(case: Case) -> tuple[Claim, ...]:
    """Return the claims that the cluster shows as pending."""
    pending = [
        one
        for one in case.manifests("PersistentVolumeClaim")
        if one.data.dig("status", "phase") in ("Pending", "Lost") or _is_waited_for(case, one)
    ]
    return tuple(Claim(one.id, _whole(case, one.data)) for one in pending)


def _is_waited_for(case: Case, one: Observation[Manifest]) -> bool:
    """Whether events or the alert say that a claim waits of which no state was seen."""
    if one.data.dig("status", "phase"):
        return False
    told = case.events(one.data.ref, reason=("FailedBinding", "ProvisioningFailed"))
    return bool(told) or (case.named == one.data.ref and "pending" in alert_text(case).lower())


def obstacles(case: Case, claim: Claim) -> Iterator[tuple[Obstacle, Observation[Manifest]]]:
    """Yield the one thing that keeps each volume from the claim, if it is just one.

    The volume that the claim names comes alone; a claim that a provisioner serves has none.
    """
    named = claim.manifest.dig("spec", "volumeName")
    volumes = [
        v for v in case.manifests("PersistentVolume") if named in (None, "", v.data.ref.name)
    ]
    for volume in () if not named and _is_provisioned(case, claim) else volumes:
        found = tuple(_differences(claim.manifest, volume.data))
        freed = named or volume.data.dig("status", "phase") == "Released"
        if len(found) == 1 and (freed or found[0] is not Obstacle.TAKEN):
            yield found[0], volume


def right_class(case: Case, written: str) -> str | None:
    """Return the storage class that was meant: a like name, the only one, or the default one."""
    classes = [one.data for one in case.objects("StorageClass")]
    names = [one.ref.name for one in classes]
    default = [one.ref.name for one in classes if _is_default(one)]
    if slip := meant(written, names):
        return slip
    if len(names) == 1:
        return names[0]
    return default[0] if len(default) == 1 else None


def _is_default(one: Manifest) -> bool:
    marks = one.dig("metadata", "annotations") or {}
    return any(str(k).endswith("is-default-class") and str(v) == "true" for k, v in marks.items())


def _is_provisioned(case: Case, claim: Claim) -> bool:
    """Whether a provisioner makes the volumes of its class, so that others do not matter."""
    name = claim.manifest.dig("spec", "storageClassName")
    return any(
        "no-provisioner" not in str(one.data.dig("provisioner"))
        for one in case.objects("StorageClass")
        if one.data.ref.name == name
    )


def _whole(case: Case, shown: Manifest) -> Manifest:
    declared = case.declaration(shown.ref)
    return declared.data.manifest if declared and not shown.whole else shown


def _differences(claim: Manifest, volume: Manifest) -> Iterator[Obstacle]:
    owner = volume.dig("spec", "claimRef") or {}
    if _is_taken(owner, claim.ref) or volume.dig("status", "phase") == "Released":
        yield Obstacle.TAKEN
    if (claim.dig("spec", "storageClassName") or "") != (
        volume.dig("spec", "storageClassName") or ""
    ):
        yield Obstacle.CLASS
    if not set(claim.dig("spec", "accessModes") or ()) <= set(
        volume.dig("spec", "accessModes") or ()
    ):
        yield Obstacle.MODE
    wanted = texts(claim.dig("spec", "selector", "matchLabels"))
    if any(volume.labels.get(key) != value for key, value in wanted.items()):
        yield Obstacle.LABELS
    if _is_smaller(volume, claim):
        yield Obstacle.SIZE


def _is_taken(owner: Mapping[str, Any], claim: ObjectRef) -> bool:
    names = (owner.get("name"), owner.get("namespace"))
    return any(
        name not in (None, "", own)
        for name, own in zip(names, (claim.name, claim.namespace), strict=True)
    )


def _is_smaller(volume: Manifest, claim: Manifest) -> bool:
    try:
        offered = quantity.parse(volume.dig("spec", "capacity", "storage"))
        wanted = quantity.parse(claim.dig("spec", "resources", "requests", "storage"))
    except quantity.NotAQuantity:
        return False
    return offered < wanted
