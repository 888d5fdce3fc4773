"""Services that select no pod because one label of their pods has another value."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.observation import Observation, ServiceView
from tocsin_rca.evidence.selectors import differing_keys, is_named_for
from tocsin_rca.evidence.sightings import Change

_ENDED = ("Succeeded", "Failed")
_ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class _Mismatch:
    """A Service that selects nothing, the one key that differs, and what the pods carry there."""

    case: Case
    service: Observation[ServiceView]
    key: str
    wanted: str
    carried: str | None
    pods: tuple[Observation[Manifest], ...]

    @property
    def ref(self) -> ObjectRef:
        return self.service.data.manifest.ref

    @property
    def path(self) -> tuple[str, ...]:
        return ("spec", "selector", self.key)

    @property
    def undone(self) -> Change | None:
        """The commit that took the selector away from the value that the pods carry."""
        change = self.case.last_change(self.ref, self.path, self.wanted)
        return change if change and change.field.before == self.carried else None


class ServiceSelector:
    """All keys of the selector match the pods but one."""

    name = "service_selector"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such Service."""
        return tuple(
            _finding(mismatch)
            for service in case.services
            if (mismatch := _mismatch(case, service)) is not None
        )


def _mismatch(case: Case, service: Observation[ServiceView]) -> _Mismatch | None:
    selector = texts(service.data.manifest.dig("spec", "selector"))
    pods = tuple(pod for pod in case.pods if pod.data.dig("status", "phase") not in _ENDED)
    if not selector or not pods or service.data.selects:
        return None
    differing = {differing_keys(selector, pod.data.labels) for pod in pods}
    keys = differing.pop()
    if differing or len(keys) != 1:
        return None
    carried = {pod.data.labels.get(keys[0]) for pod in pods}
    value = carried.pop() if len(carried) == 1 else None
    return _Mismatch(case, service, keys[0], selector[keys[0]], value, pods)


def _finding(mismatch: _Mismatch) -> Finding:
    case, doubts = mismatch.case, tuple(_doubts(mismatch))
    change, because = _change(mismatch)
    surest = _confidence(mismatch)
    workload = case.workload_manifest
    undone = mismatch.undone
    ids = [mismatch.service.id, *([workload.id] if workload else [])]
    ids += [*(pod.id for pod in mismatch.pods), *([undone.seen.id] if undone else [])]
    return Finding(
        cause=CauseClass.SERVICE_SELECTOR_MISMATCH,
        object=mismatch.ref,
        confidence=weighed(surest if change else min(surest, 0.7), doubts),
        summary=f"{mismatch.ref} selects no pod: it wants {mismatch.key}={mismatch.wanted},"
        f" the pods of {case.workload} carry"
        f" {f'{mismatch.key}={mismatch.carried}' if mismatch.carried else 'no one such label'}.",
        evidence=tuple(dict.fromkeys(ids)),
        change=change,
        because=explained(because, doubts),
    )


def _change(mismatch: _Mismatch) -> tuple[FieldChange | None, str]:
    if mismatch.carried is None:
        return None, f"The pods do not agree on one value of {mismatch.key}."
    if not _is_declared(mismatch):
        return None, f"The workload does not declare {mismatch.key}: something sets it at run time."
    change = FieldChange(
        object=mismatch.ref, path=mismatch.path, old=mismatch.wanted, new=mismatch.carried
    )
    if mismatch.undone:
        told = mismatch.undone.told
        return change, f"{told} changed it from {mismatch.carried}; this undoes that."
    return change, "All other keys match, and every pod carries this value."


def _is_declared(mismatch: _Mismatch) -> bool:
    workload = mismatch.case.workload_manifest
    labels = texts(dig(workload.data.template, "metadata", "labels")) if workload else {}
    return not workload or labels.get(mismatch.key) == mismatch.carried


def _confidence(mismatch: _Mismatch) -> float:
    case = mismatch.case
    if mismatch.undone:
        return 0.97
    if mismatch.ref == case.named:
        return 0.93
    if case.workload and is_named_for(mismatch.ref.name, case.workload.name):
        return 0.9
    alike = SequenceMatcher(None, mismatch.wanted, mismatch.carried or "").ratio()
    return 0.75 if alike >= _ALIKE else 0.4


def _doubts(mismatch: _Mismatch) -> Iterator[Doubt]:
    workload = mismatch.case.workload_manifest
    if workload is None or mismatch.carried is None:
        return
    path = ("spec", "template", "metadata", "labels", mismatch.key)
    moved = mismatch.case.last_change(workload.data.ref, path, mismatch.carried)
    if moved and moved.field.before == mismatch.wanted:
        yield Doubt(f"{moved.told} changed the label of the pods: undoing that helps too", 0.1)
