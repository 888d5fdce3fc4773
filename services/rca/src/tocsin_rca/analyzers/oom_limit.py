"""Containers that the kernel killed at their own memory limit."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from tocsin_cluster.events import read_time
from tocsin_cluster.manifest import dig
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.leaking import growths
from tocsin_rca.evidence.memory import bytes_of, doubled, same_size
from tocsin_rca.evidence.sightings import Change, ContainerSighting
from tocsin_rca.evidence.wellness import is_over

_LIMIT = ("resources", "limits", "memory")
_SIGKILL = 137
_NODE_PRESSURE = ("SystemOOM", "EvictionThresholdMet", "NodeHasInsufficientMemory")
_STALE = timedelta(days=1)
_FEW = 3
_LONG_RUN = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class _Killed:
    """One declared container that was killed in some pods, and the limit it was killed at."""

    case: Case
    sightings: tuple[ContainerSighting, ...]
    limit: Scalar
    path: FieldPath | None

    @property
    def first(self) -> ContainerSighting:
        return self.sightings[0]

    @property
    def lowering(self) -> Change | None:
        """The commit that lowered this very limit."""
        if self.path is None or self.case.workload is None:
            return None
        change = self.case.last_change(self.case.workload, self.path, self.limit, same_size)
        before = bytes_of(change.field.before) if change else None
        now = bytes_of(self.limit)
        return change if before and now and before > now else None


class OomLimit:
    """The working set meets the limit: the limit is too low."""

    name = "oom_limit"
    needs = "The pods with their last endings, and the memory limit of the container."
    proof = (
        "A container was killed for memory (OOMKilled, or 137 with such an event) while it has a "
        "limit of its own."
    )
    against = (
        "A node short of memory, an eviction, memory that grows without bound, a pod that ran "
        "with another limit or runs well again."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each container that was killed at a limit that is known."""
        return tuple(_finding(killed) for killed in _killed(case))


def _killed(case: Case) -> Iterator[_Killed]:
    by_name: dict[str, list[ContainerSighting]] = {}
    for sighting in case.containers:
        if _oom_killed(case, sighting):
            by_name.setdefault(sighting.name, []).append(sighting)
    for sightings in by_name.values():
        first = sightings[0]
        declared = first.declared.dig(*_LIMIT) if first.declared else None
        limit = declared if declared is not None else dig(first.runs, *_LIMIT)
        path = (*first.declared.path, *_LIMIT) if first.declared and declared is not None else None
        if bytes_of(limit):
            yield _Killed(case, tuple(sightings), limit, path)


def _oom_killed(case: Case, sighting: ContainerSighting) -> bool:
    reasons = {ending.get("reason") for ending in sighting.endings}
    if "OOMKilled" in reasons:
        return True
    killed = any(ending.get("exitCode") == _SIGKILL for ending in sighting.endings)
    return killed and any(
        e.data.reason == "OOMKilling" or "out of memory" in e.data.message.lower()
        for e in case.events(sighting.pod.data.ref)
    )


def _finding(killed: _Killed) -> Finding:
    case, lowering = killed.case, killed.lowering
    doubts = tuple(_doubts(killed))
    workload = case.workload or killed.first.pod.data.ref
    change, because = _change(killed)
    surest = 0.97 if lowering else 0.92
    return Finding(
        cause=CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
        object=workload,
        confidence=weighed(surest if change else 0.8, doubts),
        summary=_summary(killed),
        evidence=_evidence(killed),
        change=change,
        because=explained(because, doubts),
    )


def _summary(killed: _Killed) -> str:
    restarts = sum(int(s.status.get("restartCount") or 0) for s in killed.sightings)
    return (
        f"Container {killed.first.name} of {killed.case.workload} was killed at its memory limit"
        f" of {killed.limit} in {len(killed.sightings)} of {len(killed.case.pods)} pods"
        f" ({restarts} restarts)."
    )


def _change(killed: _Killed) -> tuple[FieldChange | None, str]:
    workload, path = killed.case.workload, killed.path
    if workload is None or path is None:
        return None, "The workload itself declares no such limit: a LimitRange or operator set it."
    old, new, lowering = killed.limit, doubled(killed.limit), killed.lowering
    if lowering is not None:
        old, new = lowering.field.after, str(lowering.field.before)
        because = f"{lowering.told} lowered it from {new} to {old}; this undoes that."
    elif new is not None:
        because = f"No commit that was seen lowered it; {new} is the next usual size from twice it."
    else:
        return None, f"{old} is outside the sizes that may be doubled without a person."
    return FieldChange(object=workload, path=path, old=old, new=new), because


def _evidence(killed: _Killed) -> tuple[str, ...]:
    workload, lowering = killed.case.workload_manifest, killed.lowering
    ids = [workload.id] if workload else []
    ids += [sighting.pod.id for sighting in killed.sightings]
    ids += [lowering.seen.id] if lowering else []
    return tuple(dict.fromkeys(ids))


def _doubts(killed: _Killed) -> Iterator[Doubt]:
    case, names = killed.case, {s.pod.data.ref.name for s in killed.sightings}
    if _under_pressure(case):
        yield Doubt("the node itself ran out of memory", 0.5)
    grown = [grows.how for grows in growths(case) if grows.pod in ("", *names)]
    if grown:
        yield Doubt(f"{grown[0]}: a leak outgrows any limit", 0.4)
    if bytes_of(dig(killed.first.runs, *_LIMIT)) not in (None, bytes_of(killed.limit)):
        yield Doubt("the killed pod still ran with another limit than is declared now", 0.5)
    if is_over(case) and all(_runs_again(sighting) for sighting in killed.sightings):
        yield Doubt("the alert is over, and it runs again", 0.5)
    if all(_is_stale(case, sighting) for sighting in killed.sightings):
        yield Doubt("it has run well for a day since", 0.5)
    elif not killed.lowering and all(_ran_long(sighting) for sighting in killed.sightings):
        yield Doubt("it ran for hours before: slow growth would look like that", 0.15)


def _under_pressure(case: Case) -> bool:
    if any(e.data.reason in _NODE_PRESSURE for e in case.events()):
        return True
    if any(pod.data.dig("status", "reason") == "Evicted" for pod in case.pods):
        return True
    return any(
        condition.get("type") == "MemoryPressure" and condition.get("status") == "True"
        for node in case.nodes
        for condition in node.data.items("status", "conditions")
    )


def _is_stale(case: Case, sighting: ContainerSighting) -> bool:
    now, ended = case.now, read_time(sighting.endings[0].get("finishedAt"))
    return bool(sighting.ready and now and ended and now - ended > _STALE)


def _runs_again(sighting: ContainerSighting) -> bool:
    return bool(sighting.ready) and int(sighting.status.get("restartCount") or 0) <= _FEW


def _ran_long(sighting: ContainerSighting) -> bool:
    started, ended = (read_time(sighting.endings[0].get(k)) for k in ("startedAt", "finishedAt"))
    return bool(started and ended and ended - started > _LONG_RUN)
