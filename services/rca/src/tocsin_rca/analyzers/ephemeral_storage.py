"""Pods that are evicted for what they wrote to the disk of their node."""

import re

from tocsin_cluster.manifest import POD_TEMPLATE, Manifest
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, ObjectRef, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, owner_of, proof, sure
from tocsin_rca.evidence.memory import doubled
from tocsin_rca.evidence.pod_needs import spec_of
from tocsin_rca.evidence.pressure import pressed_nodes
from tocsin_rca.evidence.statements import Told, told

_CONTAINER = re.compile(
    r"Container (?P<container>[\w.-]{1,63}) exceeded its local ephemeral storage limit"
    r" \\?\"(?P<limit>\w{1,20})\\?\""
)
_VOLUME = re.compile(
    r"Usage of EmptyDir volume \\?\"(?P<volume>[\w.-]{1,63})\\?\" exceeds the limit"
    r" \\?\"(?P<limit>\w{1,20})\\?\""
)
_POD = re.compile(
    r"(?i)ephemeral local storage usage exceeds the total limit of containers (?P<limit>\w{1,20})"
)
_NODE = re.compile(
    r"low on resource: ephemeral-storage|attempting to reclaim ephemeral-storage"
    r"|status is now: NodeHasDiskPressure|had condition: \[[^\]\n]{0,60}DiskPressure"
    r"|failed to garbage collect required amount of images|(?:imagefs|nodefs)\.\w{1,20}.{0,40}"
    r"threshold|DiskPressure.{0,20}=? ?True"
)
_ALERT = re.compile(
    r"(?i)disk.?pressure|ephemeral.?storage|NodeFilesystem(?:AlmostOutOf|SpaceFilling)"
)
_Change = tuple[FieldChange | None, str]


class EphemeralStorage:
    """The kubelet says that a container, a volume or a pod wrote more than it may, or the node."""

    name = "ephemeral_storage"
    needs = (
        "What the kubelet says of evictions, the conditions of nodes, and the limits on local disk."
    )
    proof = (
        "The kubelet says that a container, a volume or a pod wrote more than its limit, or that "
        "its node is short of disk."
    )
    against = (
        "Another workload was evicted, or only a condition of the node or the alert speaks of a "
        "full disk."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the limit that was exceeded is doubled where it is declared."""
        for pattern, confidence in (
            (_CONTAINER, 0.95),
            (_VOLUME, 0.95),
            (_POD, 0.95),
            (_NODE, 0.86),
        ):
            found = told(case, pattern)
            if found:
                best = max(found, key=lambda one: sure(case, one.about, 1))
                return _finding(case, best, confidence)
        return _of_a_node(case)


def _finding(case: Case, one: Told, confidence: float) -> tuple[Finding, ...]:
    owner = owner_of(case, one.about)
    if owner is None:
        return ()
    change, because = _change(case, owner, one)
    return (
        Finding(
            cause=CauseClass.EPHEMERAL_STORAGE_EXCEEDED,
            object=owner,
            confidence=sure(case, one.about, confidence),
            summary=f"{owner} was evicted for what it wrote to disk: {one.match.group()}.",
            evidence=proof(case, one.id),
            change=change,
            because=because,
        ),
    )


def _change(case: Case, owner: ObjectRef, one: Told) -> _Change:
    said, manifest = one.match.groupdict(), case.manifest(owner)
    place = _place(manifest.data, said) if manifest else None
    if manifest is None or place is None:
        return None, "No limit that was seen is surely the one to raise."
    path, limit = place
    new = doubled(limit)
    if new is None:
        return None, f"{limit} is outside the sizes that may be doubled without a person."
    because = f"It needs more than {limit}; {new} is the next usual size from twice it."
    return FieldChange(object=owner, path=path, old=limit, new=new), because


def _place(manifest: Manifest, said: dict[str, str | None]) -> tuple[FieldPath, Scalar] | None:
    if said.get("volume"):
        return _volume(manifest, str(said["volume"]))
    containers = manifest.containers()
    if said.get("container"):
        containers = tuple(one for one in containers if one.name == said["container"])
    limited = [c for c in containers if c.dig("resources", "limits", "ephemeral-storage")]
    if len(limited) != 1 or not said.get("limit"):
        return None
    field = ("resources", "limits", "ephemeral-storage")
    return (*limited[0].path, *field), limited[0].dig(*field)


def _volume(manifest: Manifest, name: str) -> tuple[FieldPath, Scalar] | None:
    base = (*POD_TEMPLATE.get(manifest.ref.kind, ()), "spec", "volumes", f"[name={name}]")
    for volume in Manifest(spec_of(manifest)).items("volumes"):
        size = Manifest(volume).dig("emptyDir", "sizeLimit")
        if volume.get("name") == name and size:
            return (*base, "emptyDir", "sizeLimit"), size
    return None


def _of_a_node(case: Case) -> tuple[Finding, ...]:
    nodes, alerted = pressed_nodes(case, "DiskPressure"), _ALERT.search(alert_words(case))
    if not (nodes or alerted):
        return ()
    fallback = case.named or ObjectRef(kind="Node", name="unknown")
    subject = nodes[0][1].ref if nodes else fallback
    return (
        Finding(
            cause=CauseClass.EPHEMERAL_STORAGE_EXCEEDED,
            object=subject,
            confidence=0.82 if nodes else 0.72,
            summary=f"{subject} is short of disk; what fills it was not seen.",
            evidence=(*(id_ for id_, _ in nodes), *(alert_id(case) if alerted else ())),
        ),
    )
