"""The case file of one alert: all that was seen, with the look-ups that analyzers read it by."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import eq
from typing import Any, TypeVar

from tocsin_cluster.events import ClusterEvent, read_time
from tocsin_cluster.manifest import Container, Manifest, dig
from tocsin_contracts import Alert, EvidenceKind, FieldPath, ObjectRef, Scalar
from tocsin_rca.evidence.observation import LogText, Observation, ServiceView
from tocsin_rca.ports import ChangedField, FieldHistory

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContainerSighting:
    """One container of one pod: how it fares, what the pod runs, and what people declared.

    `declared` is None for a container that the workload does not know, such as a sidecar that an
    admission webhook added, or when the workload itself was not seen.
    """

    pod: Observation[Manifest]
    name: str
    status: Mapping[str, Any]
    runs: Mapping[str, Any]
    declared: Container | None

    @property
    def ready(self) -> bool:
        """Whether the container takes traffic."""
        return self.status.get("ready") is True

    @property
    def running(self) -> bool:
        """Whether the container runs at this moment."""
        return dig(self.status, "state", "running") is not None

    @property
    def endings(self) -> tuple[Mapping[str, Any], ...]:
        """How the container ended, the latest ending first."""
        found = (dig(self.status, state, "terminated") for state in ("state", "lastState"))
        return tuple(ending for ending in found if isinstance(ending, Mapping))


@dataclass(frozen=True, slots=True)
class Change:
    """A field that a commit changed, and the observation that shows it."""

    seen: Observation[FieldHistory]
    field: ChangedField

    @property
    def told(self) -> str:
        """The commit as a sentence names it."""
        return f"commit {self.seen.data.commit[:10]} ({self.seen.data.subject!r})"


@dataclass(frozen=True, slots=True)
class Case:
    """What analyzers are pure over.

    `named` is the object that the alert points at, `workload` the one that people edit to change
    its pods; both are None as long as the cluster does not know them.
    """

    alert: Alert
    named: ObjectRef | None
    workload: ObjectRef | None
    observations: tuple[Observation[object], ...]

    @property
    def workload_manifest(self) -> Observation[Manifest] | None:
        """The workload as the cluster holds it."""
        return next((o for o in self._of(Manifest) if o.data.ref == self.workload), None)

    @property
    def pods(self) -> tuple[Observation[Manifest], ...]:
        """The pods that the workload runs."""
        return tuple(o for o in self._of(Manifest) if o.evidence.kind is EvidenceKind.POD)

    @property
    def nodes(self) -> tuple[Observation[Manifest], ...]:
        """The nodes that those pods run on."""
        return tuple(o for o in self._of(Manifest) if o.data.ref.kind == "Node")

    @property
    def services(self) -> tuple[Observation[ServiceView], ...]:
        """The Services that select the pods, or nearly do, or that the alert names."""
        return self._of(ServiceView)

    @property
    def logs(self) -> tuple[Observation[LogText], ...]:
        """The logs of the containers that are in trouble."""
        return self._of(LogText)

    @property
    def missing(self) -> tuple[Observation[object], ...]:
        """What could not be seen."""
        return tuple(o for o in self.observations if o.evidence.kind is EvidenceKind.MISSING)

    @property
    def now(self) -> datetime | None:
        """The latest time that the cluster itself speaks of; a recording has its own now."""
        spoken = [e.data.last_seen for e in self._of(ClusterEvent)]
        spoken += [read_time(t) for sighting in self.containers for t in _times(sighting.status)]
        spoken += [
            read_time(c.get("lastHeartbeatTime")) for n in self.nodes for c in _conditions(n)
        ]
        return max((time for time in spoken if time is not None), default=None)

    @property
    def containers(self) -> tuple[ContainerSighting, ...]:
        """Every container of every pod that has a status."""
        return tuple(sighting for pod in self.pods for sighting in self._containers(pod))

    def events(self, about: ObjectRef | None = None) -> tuple[Observation[ClusterEvent], ...]:
        """Return the events, or those about one object."""
        return tuple(e for e in self._of(ClusterEvent) if about is None or e.data.about == about)

    def last_change(
        self,
        target: ObjectRef,
        path: FieldPath,
        after: Scalar,
        same: Callable[[Scalar, Scalar], bool] = eq,
    ) -> Change | None:
        """Return the newest commit that gave a field of an object the value it has now."""
        for seen in self._of(FieldHistory):
            for field in seen.data.fields:
                if _concerns(field, target) and field.path == path and same(field.after, after):
                    return Change(seen, field)
        return None

    def _of(self, kind: type[T]) -> tuple[Observation[T], ...]:
        return tuple(
            Observation(o.evidence, o.data) for o in self.observations if isinstance(o.data, kind)
        )

    def _containers(self, pod: Observation[Manifest]) -> Iterator[ContainerSighting]:
        workload = self.workload_manifest
        for section in ("containerStatuses", "initContainerStatuses"):
            for status in pod.data.items("status", section):
                name = str(status.get("name"))
                own = pod.data.container(name)
                declared = workload.data.container(name) if workload else None
                runs = own or declared
                yield ContainerSighting(pod, name, status, runs.raw if runs else {}, declared)


def _concerns(field: ChangedField, target: ObjectRef) -> bool:
    document = field.document
    same = (document.kind, document.name) == (target.kind, target.name)
    return same and document.namespace in ("", target.namespace)


def _times(status: Mapping[str, Any]) -> Iterator[Any]:
    for state in ("state", "lastState"):
        yield dig(status, state, "running", "startedAt")
        yield dig(status, state, "terminated", "finishedAt")


def _conditions(node: Observation[Manifest]) -> tuple[Mapping[str, Any], ...]:
    return node.data.items("status", "conditions")
