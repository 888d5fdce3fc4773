"""Services that select no pod because one label of their pods has another value."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from tocsin_cluster.manifest import dig, texts
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.known import Known, Runs, known, running
from tocsin_rca.evidence.remedy import deleted
from tocsin_rca.evidence.selectors import differing_keys, is_named_for, selects
from tocsin_rca.evidence.sightings import Change

_ENDED = ("Succeeded", "Failed")
_ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class _Pods:
    """Pods that should be selected: what runs them, their labels, and the evidence for those."""

    runs: Runs
    labels: tuple[dict[str, str], ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Mismatch:
    """A Service that selects nothing, the one key that differs, and what the pods carry there."""

    case: Case
    service: Known
    key: str
    wanted: str
    carried: str | None
    pods: _Pods

    @property
    def ref(self) -> ObjectRef:
        return self.service.ref

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
    needs = "The selectors of Services, the labels of pods and of pod templates, and the Endpoints."
    proof = (
        "A Service selects no pod, and just one key of its selector differs from the labels of "
        "the nearest pods."
    )
    against = (
        "The Service has addresses, no pod runs at all, or it was the label of the pods that a "
        "commit changed."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such Service."""
        mismatches = (_mismatch(case, service) for service in known(case, "Service"))
        return tuple(_finding(mismatch) for mismatch in mismatches if mismatch is not None)


def _mismatch(case: Case, service: Known) -> _Mismatch | None:
    selector = texts(service.manifest.dig("spec", "selector"))
    if not selector or _leads_somewhere(case, service, selector):
        return None
    every = [_pods(case, runs) for runs in running(case, service.ref.namespace)]
    near = [(keys, pods) for pods in every if (keys := _differing(selector, pods))]
    if not near:
        return None
    keys, pods = max(near, key=lambda one: _nearness(case, service, selector, *one))
    carried = {labels.get(keys[0]) for labels in pods.labels}
    value = carried.pop() if len(carried) == 1 else None
    return _Mismatch(case, service, keys[0], selector[keys[0]], value, pods)


def _leads_somewhere(case: Case, service: Known, selector: dict[str, str]) -> bool:
    """Whether it selects a pod, or what runs pods, or is seen to have addresses."""
    endpoints = case.object(service.ref.model_copy(update={"kind": "Endpoints"}))
    subsets = endpoints.data.items("subsets") if endpoints else ()
    if any(dig(subset, "addresses") or dig(subset, "notReadyAddresses") for subset in subsets):
        return True
    carried = [pod.data.labels for pod in case.objects("Pod", service.ref.namespace)]
    carried += [runs.labels for runs in running(case, service.ref.namespace)]
    return any(not differing_keys(selector, labels) for labels in carried)


def _pods(case: Case, runs: Runs) -> _Pods:
    """The pods as they were seen, where any was; else what would carry the template's labels."""
    if runs.ref == case.workload:
        live = [p for p in case.pods if p.data.dig("status", "phase") not in _ENDED]
        labels = tuple(p.data.labels for p in live if p.data.labels)
        if labels or case.pods:
            return _Pods(runs, labels, (*runs.known.ids, *(pod.id for pod in live)))
    ended = runs.ref.kind == "Pod" and runs.known.manifest.dig("status", "phase") in _ENDED
    return _Pods(runs, (runs.labels,) if runs.labels and not ended else (), runs.known.ids)


def _differing(selector: dict[str, str], pods: _Pods) -> tuple[str, ...]:
    """The one key that no pod satisfies, if it is the same for all; else nothing."""
    differing = {differing_keys(selector, labels) for labels in pods.labels}
    keys = differing.pop() if len(differing) == 1 else ()
    return keys if len(keys) == 1 else ()


def _nearness(
    case: Case, service: Known, selector: dict[str, str], keys: tuple[str, ...], pods: _Pods
) -> tuple[bool, bool, int, float]:
    carried = pods.labels[0].get(keys[0], "")
    named_for = is_named_for(service.ref.name, pods.runs.ref.name)
    alike = SequenceMatcher(None, selector[keys[0]], carried).ratio()
    return (named_for, pods.runs.ref == case.workload, len(selector), alike)


def _finding(mismatch: _Mismatch) -> Finding:
    doubts = tuple(_doubts(mismatch))
    change, because = _change(mismatch)
    surest = _confidence(mismatch)
    undone = mismatch.undone
    ids = [*mismatch.service.ids, *mismatch.pods.ids, *([undone.seen.id] if undone else [])]
    return Finding(
        cause=CauseClass.SERVICE_SELECTOR_MISMATCH,
        object=mismatch.ref,
        confidence=weighed(surest if change else min(surest, 0.7), doubts),
        summary=f"{mismatch.ref} selects no pod: it wants {mismatch.key}={mismatch.wanted},"
        f" the pods of {mismatch.pods.runs.ref} carry"
        f" {f'{mismatch.key}={mismatch.carried}' if mismatch.carried else 'no one such label'}.",
        evidence=tuple(dict.fromkeys(ids)),
        change=change,
        because=explained(because, doubts),
    )


def _change(mismatch: _Mismatch) -> tuple[FieldChange | None, str]:
    if gone := _superfluous(mismatch):
        rest = "the other labels select these pods and no others"
        return gone, f"Nothing that was seen carries a label {mismatch.key}; {rest}."
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


def _superfluous(mismatch: _Mismatch) -> FieldChange | None:
    """Take a key away that nothing carries, if what is left chooses just what it is named for.

    Its value has to be that very name: any other may be set at run time, such as who leads.
    """
    case, service, runs = mismatch.case, mismatch.service, mismatch.pods.runs
    selector = texts(service.manifest.dig("spec", "selector"))
    rest = {key: value for key, value in selector.items() if key != mismatch.key}
    every = running(case, mismatch.ref.namespace)
    carried = [pod.data.labels for pod in case.objects("Pod", mismatch.ref.namespace)]
    carried += [one.labels for one in every]
    used = any(mismatch.key in labels for labels in carried)
    chosen = [one.ref for one in every if selects(rest, one.labels)]
    names = is_named_for(mismatch.ref.name, runs.ref.name) and mismatch.wanted in (
        mismatch.ref.name,
        runs.ref.name,
    )
    if used or mismatch.undone or chosen != [runs.ref] or not names:
        return None
    return deleted(mismatch.ref, mismatch.path, mismatch.wanted)


def _is_declared(mismatch: _Mismatch) -> bool:
    return mismatch.pods.runs.labels.get(mismatch.key) == mismatch.carried


def _confidence(mismatch: _Mismatch) -> float:
    case, owner = mismatch.case, mismatch.pods.runs.ref
    if mismatch.undone:
        return 0.97
    if mismatch.ref == case.named:
        return 0.93
    if is_named_for(mismatch.ref.name, owner.name):
        return 0.9
    alike = SequenceMatcher(None, mismatch.wanted, mismatch.carried or "").ratio()
    return 0.75 if alike >= _ALIKE else 0.4


def _doubts(mismatch: _Mismatch) -> Iterator[Doubt]:
    case, runs = mismatch.case, mismatch.pods.runs
    if case.object(runs.ref) and not case.objects("Pod", mismatch.ref.namespace):
        yield Doubt("no pod runs at all, which alone leaves the Service empty", 0.25)
    if mismatch.carried is None:
        return
    path = ("spec", "template", "metadata", "labels", mismatch.key)
    moved = mismatch.case.last_change(mismatch.pods.runs.ref, path, mismatch.carried)
    if moved and moved.field.before == mismatch.wanted:
        yield Doubt(f"{moved.told} changed the label of the pods: undoing that helps too", 0.1)
