"""Probes that fail, as the kubelet reports them and as the workload declares them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Container, dig
from tocsin_contracts import FieldPath
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.sightings import ContainerSighting

_FAILURE = re.compile(
    r"(?P<probe>Liveness|Readiness) probe (?:failed|errored)[^:]*:(?P<why>.*)", re.S
)
_HANDLERS = ("httpGet", "tcpSocket", "grpc")


class Probe(Enum):
    """The probes that analyzers know, by the field that declares them."""

    LIVENESS = "livenessProbe"
    READINESS = "readinessProbe"

    @property
    def word(self) -> str:
        """What people and the kubelet call it."""
        return self.value.removesuffix("Probe")

    @property
    def other(self) -> "Probe":
        """The probe that checks the same container for another purpose."""
        return Probe.READINESS if self is Probe.LIVENESS else Probe.LIVENESS


@dataclass(frozen=True, slots=True)
class ProbeSighting:
    """A probe as one container declares it, with the events by which one pod says it fails."""

    probe: Probe
    sighting: ContainerSighting
    container: Container
    failures: tuple[Observation[ClusterEvent], ...]

    @property
    def handler(self) -> str:
        """The field that says how the probe asks; empty when it asks no port."""
        declared = self.container.dig(self.probe.value) or {}
        return next((name for name in _HANDLERS if isinstance(declared.get(name), Mapping)), "")

    @property
    def asks(self) -> Mapping[str, Any]:
        """What the probe asks: the mapping under its handler."""
        return self.container.dig(self.probe.value, self.handler) or {}

    @property
    def passes(self) -> bool:
        """Whether it is seen to pass; the silence of a container that does not run is not that."""
        if not self.handler or self.failures or not self.sighting.running:
            return False
        return self.probe is Probe.LIVENESS or self.sighting.ready

    def path(self, field: str) -> FieldPath:
        """Return the path from the object's root to a field of the handler."""
        return (*self.container.path, self.probe.value, self.handler, field)

    def is_current(self, field: str) -> bool:
        """Whether the pod that reports runs with what the workload declares by now."""
        own = dig(self.sighting.runs, self.probe.value, self.handler, field)
        return own is None or own == self.asks.get(field)

    def saying(self, *words: str) -> tuple[Observation[ClusterEvent], ...]:
        """Return the failures whose message holds all of the words."""
        return tuple(e for e in self.failures if all(word in e.data.message for word in words))

    def proven_by(self, case: Case, *others: str) -> tuple[str, ...]:
        """Return the ids of the workload, of the pod and of other evidence, each once."""
        workload = case.workload_manifest
        ids = [workload.id] if workload else []
        return tuple(dict.fromkeys([*ids, self.sighting.pod.id, *others]))


def failing_probes(case: Case) -> tuple[ProbeSighting, ...]:
    """Return every declared probe that some pod reports as failing, one for each container."""
    found: dict[tuple[str, Probe], ProbeSighting] = {}
    for sighting in case.containers:
        for probe in Probe:
            seen = _sight(case, sighting, probe)
            if seen and seen.failures and seen.handler:
                found.setdefault((seen.container.name, probe), seen)
    return tuple(found.values())


def sibling(case: Case, seen: ProbeSighting) -> ProbeSighting | None:
    """Return the probe that checks the same container for another purpose, if that one passes."""
    other = _sight(case, seen.sighting, seen.probe.other)
    return other if other and other.passes else None


def _sight(case: Case, sighting: ContainerSighting, probe: Probe) -> ProbeSighting | None:
    if sighting.declared is None:
        return None
    return ProbeSighting(probe, sighting, sighting.declared, _reports(case, sighting, probe))


def _reports(
    case: Case, sighting: ContainerSighting, probe: Probe
) -> tuple[Observation[ClusterEvent], ...]:
    events = case.events(sighting.pod.data.ref)
    return tuple(event for event in events if _is_about(event.data, sighting, probe))


def _is_about(event: ClusterEvent, sighting: ContainerSighting, probe: Probe) -> bool:
    failure = _FAILURE.match(event.message)
    if failure is None or failure["probe"].lower() != probe.word:
        return False
    if event.container:
        return event.container == sighting.name
    probed = [c for c in sighting.pod.data.containers() if dig(c.raw, probe.value)]
    return [c.name for c in probed] in ([sighting.name], [])
