"""Images that a registry which answers says it does not have."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.images import only_version_differs
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.pulls import Trouble, failed_pulls
from tocsin_rca.evidence.sightings import Change, ContainerSighting
from tocsin_rca.evidence.undoing import changes, undo
from tocsin_rca.ports import ChangedField

_WAITING = ("ErrImagePull", "ImagePullBackOff")
_ABSENT = re.compile(
    r"(?i)manifest unknown|manifest for \S{1,300} not found|: not found|code = NotFound"
)
_OTHERWISE = re.compile(
    r"(?i)unauthori[sz]ed|authentication required|denied|forbidden|authorization failed"
    r"|no such host|server misbehaving|i/o timeout|deadline exceeded|connection re(?:fused|set)"
    r"|toomanyrequests|too many requests|rate limit|x509|tls|no match for platform"
    r"|name unknown|repository .{0,80}(?:does not exist|not found)|\b50[0-4]\b"
)


@dataclass(frozen=True, slots=True)
class _Absent:
    """One declared container whose image is not there, and the events that say so."""

    case: Case
    sighting: ContainerSighting
    image: str
    path: FieldPath
    events: tuple[Observation[ClusterEvent], ...]
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True, slots=True)
class _LastGood:
    """An image of the same repository that did run, and what shows that it did."""

    image: str
    because: str
    seen: tuple[str, ...]
    confidence: float


class ImageTag:
    """The registry answers that there is no such tag."""

    name = "image_tag"
    needs = (
        "The containers that wait for an image, what the registry answers, and images that did run."
    )
    proof = (
        "The registry answers that it does not have the tag that a waiting container should run."
    )
    against = (
        "The registry also failed in another way (access, network, limits), or the workload "
        "already declares another image."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each container; without a last good image there is no change."""
        found = {absent.sighting.name: absent for absent in _absent(case)}
        return tuple(_finding(absent) for absent in found.values()) or _from_afar(case)


def _from_afar(case: Case) -> tuple[Finding, ...]:
    """What events alone tell, where no pod with its workload was seen."""
    found: dict[ObjectRef, Finding] = {}
    for pull in failed_pulls(case):
        workload = subject(case, pull.about)
        unexplained = pull.trouble is Trouble.UNSAID
        if pull.trouble is not Trouble.ABSENT and not unexplained:
            continue
        change = next(changes(case, partial(_replaced, image=pull.image)), None)
        if unexplained and change is None:
            continue
        edit = undo(case, change) if change else None
        surest = 0.95 if edit else 0.92
        found.setdefault(
            workload,
            Finding(
                cause=CauseClass.IMAGE_TAG_NOT_FOUND,
                object=workload,
                confidence=0.75 if unexplained else sure(case, pull.about, surest),
                summary=f"The image {pull.image} that {workload} should run cannot be had.",
                evidence=proof(case, *pull.ids, *((change.seen.id,) if change and edit else ())),
                change=edit,
                because=f"{change.told} set it; this undoes that." if change and edit else "",
            ),
        )
    return tuple(found.values())


def _replaced(field: ChangedField, *, image: str) -> bool:
    before, after = str(field.before), str(field.after)
    return field.path[-1] == "image" and after == image and only_version_differs(before, after)


def _absent(case: Case) -> Iterator[_Absent]:
    for sighting in case.containers:
        if sighting.declared is None or not _is_waiting(sighting):
            continue
        image = str(sighting.runs.get("image"))
        answers = tuple(
            e for e in case.events(sighting.pod.data.ref) if f'"{image}"' in e.data.message
        )
        said = [str(dig(sighting.status, "state", "waiting", "message") or "")]
        said += [event.data.message for event in answers]
        if not any(_is_absent(message) for message in said):
            continue
        proof = tuple(event for event in answers if _is_absent(event.data.message))
        path = (*sighting.declared.path, "image")
        yield _Absent(case, sighting, image, path, proof, tuple(_doubts(sighting, said)))


def _is_waiting(sighting: ContainerSighting) -> bool:
    return dig(sighting.status, "state", "waiting", "reason") in _WAITING


def _is_absent(message: str) -> bool:
    return bool(_ABSENT.search(message)) and not _OTHERWISE.search(message)


def _doubts(sighting: ContainerSighting, said: list[str]) -> Iterator[Doubt]:
    if any(_OTHERWISE.search(message) for message in said):
        yield Doubt("the registry also failed in another way", 0.4)
    if sighting.declared and sighting.declared.raw.get("image") != sighting.runs.get("image"):
        yield Doubt("the workload already declares another image", 0.6)


def _finding(absent: _Absent) -> Finding:
    case, good = absent.case, _last_good(absent)
    workload = case.workload or absent.sighting.pod.data.ref
    change = (
        FieldChange(object=workload, path=absent.path, old=absent.image, new=good.image)
        if good
        else None
    )
    because = good.because if good else "No image of that repository is known to have run here."
    return Finding(
        cause=CauseClass.IMAGE_TAG_NOT_FOUND,
        object=workload,
        confidence=weighed(good.confidence if good else 0.9, absent.doubts),
        summary=f"The registry has no image {absent.image}, which container"
        f" {absent.sighting.name} of {workload} should run.",
        evidence=_evidence(absent, good),
        change=change,
        because=explained(because, absent.doubts),
    )


def _evidence(absent: _Absent, good: _LastGood | None) -> tuple[str, ...]:
    workload = absent.case.workload_manifest
    ids = [workload.id] if workload else []
    ids += [absent.sighting.pod.id, *(event.id for event in absent.events)]
    ids += good.seen if good else ()
    return tuple(dict.fromkeys(ids))


def _last_good(absent: _Absent) -> _LastGood | None:
    change = _setting(absent)
    before = change.field.before if change else None
    for pod, image in _running(absent):
        if change and image == before:
            because = f"{change.told} replaced {image}, which {pod.data.ref} still runs."
            return _LastGood(image, because, (pod.id, change.seen.id), 0.98)
        return _LastGood(image, f"{pod.data.ref} still runs {image}.", (pod.id,), 0.93)
    if change and isinstance(before, str) and only_version_differs(before, absent.image):
        because = f"{change.told} replaced {before}; this undoes that."
        return _LastGood(before, because, (change.seen.id,), 0.95)
    return None


def _running(absent: _Absent) -> Iterator[tuple[Observation[Manifest], str]]:
    """Yield the pods of the same workload that run another image of the same repository."""
    for sighting in absent.case.containers:
        own = sighting.pod.data.container(sighting.name)
        image = str(own.raw.get("image")) if own else ""
        same = sighting.name == absent.sighting.name and only_version_differs(image, absent.image)
        if same and sighting.running and sighting.ready:
            yield sighting.pod, image


def _setting(absent: _Absent) -> Change | None:
    workload = absent.case.workload
    if workload is None:
        return None
    return absent.case.last_change(workload, absent.path, absent.image)
