"""The case file of one alert: all that was seen, with the look-ups that analyzers read it by."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import eq
from typing import Any, TypeVar

from tocsin_cluster.events import ClusterEvent, read_time
from tocsin_cluster.manifest import Manifest, dig
from tocsin_cluster.port import Usage
from tocsin_cluster.printed import Printed
from tocsin_contracts import Alert, EvidenceKind, FieldPath, ObjectRef, Scalar
from tocsin_rca.evidence.memo import Memo
from tocsin_rca.evidence.metric import Metric
from tocsin_rca.evidence.observation import LogText, Observation, ServiceView, Unseen
from tocsin_rca.evidence.rollout import Rollout
from tocsin_rca.evidence.sightings import Change, ContainerSighting
from tocsin_rca.ports import ChangedField, Declared, FieldHistory

T = TypeVar("T")


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
    memo: Memo = dataclasses.field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def workload_manifest(self) -> Observation[Manifest] | None:
        """The workload as the cluster holds it, or where that was not seen, as a file declares it.

        Which of the two it is says the kind of its evidence.
        """
        return self.manifest(self.workload) if self.workload else None

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
        """The logs of the containers that are in trouble, and those that were recorded.

        A recorded log may not say of which pod or container it is: then these are empty.
        """
        return self._of(LogText)

    @property
    def usage(self) -> tuple[Observation[Usage], ...]:
        """What pods, containers and nodes take, as far as it was measured."""
        return self._of(Usage)

    @property
    def rollouts(self) -> tuple[Observation[Rollout], ...]:
        """The last revisions of the workload, the newest first."""
        return self._of(Rollout)

    @property
    def metrics(self) -> tuple[Observation[Metric], ...]:
        """Series around the start of the alert: of its workload, and of its own expression."""
        return self._of(Metric)

    @property
    def checks(self) -> tuple[Observation[Printed], ...]:
        """What probes other than kubectl printed, such as `systemctl status` or a connection test.

        `data.command` is what was asked, `data.text` the answer, `data.data` the same as JSON.
        """
        return tuple(o for o in self._of(Printed) if o.evidence.kind is EvidenceKind.CHECK)

    @property
    def missing(self) -> tuple[Observation[object], ...]:
        """What could not be seen."""
        return tuple(o for o in self.observations if o.evidence.kind is EvidenceKind.MISSING)

    @property
    def unseen(self) -> tuple[Observation[Unseen], ...]:
        """Why nothing of the cluster is known, if it did not answer."""
        return self._of(Unseen)

    @property
    def now(self) -> datetime | None:
        """The latest time that the cluster itself speaks of; a recording has its own now."""
        spoken = [e.data.last_seen for e in self._of(ClusterEvent)]
        spoken += [read_time(t) for sighting in self.containers for t in _times(sighting.status)]
        spoken += [
            read_time(c.get("lastHeartbeatTime"))
            for node in self.nodes
            for c in node.data.items("status", "conditions")
        ]
        return max((time for time in spoken if time is not None), default=None)

    @property
    def containers(self) -> tuple[ContainerSighting, ...]:
        """Every container of every pod that has a status."""
        return tuple(sighting for pod in self.pods for sighting in self._containers(pod))

    def events(
        self,
        about: ObjectRef | None = None,
        *,
        reason: str | Iterable[str] = (),
        saying: str = "",
    ) -> tuple[Observation[ClusterEvent], ...]:
        """Return the events: of one object, of some reasons, matching an expression, or all.

        All are those of the namespace, of the nodes under the pods and of the pods themselves.
        """
        reasons = {reason} if isinstance(reason, str) else set(reason)
        said = re.compile(saying)
        return tuple(
            e
            for e in self._of(ClusterEvent)
            if (about is None or e.data.about == about)
            and (not reasons or e.data.reason in reasons)
            and said.search(e.data.message)
        )

    def objects(self, kind: str, namespace: str | None = None) -> tuple[Observation[Manifest], ...]:
        """Return the objects of a kind that the cluster shows: around the workload and near it.

        Of a Secret and a ConfigMap it shows keys. One that was read from a table or a description
        is not `whole`: what it does not hold may be there all the same.
        """
        every = self.memo.once("objects", self._by_kind).get(kind, {})
        return tuple(o for ref, o in every.items() if namespace in (None, ref.namespace))

    def object(self, ref: ObjectRef) -> Observation[Manifest] | None:
        """Return one object as the cluster shows it; None if it was not seen."""
        return self.memo.once("objects", self._by_kind).get(ref.kind, {}).get(ref)

    def declarations(self, kind: str = "") -> tuple[Observation[Declared], ...]:
        """Return what files of the repositories declare: of one kind, or all."""
        found = self._of(Declared)
        return tuple(o for o in found if kind in ("", o.data.manifest.ref.kind))

    def declaration(self, ref: ObjectRef) -> Observation[Declared] | None:
        """Return the one file that declares an object; None if none or several do."""
        found = [o for o in self.declarations(ref.kind) if o.data.manifest.ref == ref]
        return found[0] if len(found) == 1 else None

    def manifests(self, kind: str) -> tuple[Observation[Manifest], ...]:
        """Return the objects of a kind that the cluster shows, and those only files declare."""
        shown = self.objects(kind)
        known = {o.data.ref for o in shown}
        declared = (
            Observation(o.evidence, o.data.manifest)
            for o in self.declarations(kind)
            if o.data.manifest.ref not in known
        )
        return (*shown, *declared)

    def manifest(self, ref: ObjectRef) -> Observation[Manifest] | None:
        """Return one object as the cluster shows it, or else as a file declares it."""
        return next((o for o in self.manifests(ref.kind) if o.data.ref == ref), None)

    def texts(self, verb: str = "", kind: str = "") -> tuple[Observation[Printed], ...]:
        """Return what kubectl printed, as text: `texts("describe", "Pod")`.

        What it says of objects, events, usage and logs is also among those, as data.
        """
        return tuple(
            o
            for o in self._of(Printed)
            if o.evidence.kind is EvidenceKind.OUTPUT
            and verb in ("", o.data.command.verb)
            and kind in ("", o.data.command.kind)
        )

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
        every = ((o.evidence, o.data) for o in self.observations)
        return self.memo.once(
            str(kind), lambda: tuple(Observation(e, d) for e, d in every if isinstance(d, kind))
        )

    def _by_kind(self) -> dict[str, dict[ObjectRef, Observation[Manifest]]]:
        found: dict[str, dict[ObjectRef, Observation[Manifest]]] = {}
        for seen in (*self._of(Manifest), *self._services()):
            ref = seen.data.ref
            found.setdefault(ref.kind, {}).setdefault(ref, seen)
        return found

    def _services(self) -> Iterator[Observation[Manifest]]:
        return (Observation(o.evidence, o.data.manifest) for o in self.services)

    def _containers(self, pod: Observation[Manifest]) -> Iterator[ContainerSighting]:
        workload = self.workload_manifest
        for section in ("containerStatuses", "initContainerStatuses"):
            for status in pod.data.items("status", section):
                name = str(status.get("name")) or _only_container(workload or pod)
                own = pod.data.container(name)
                declared = workload.data.container(name) if workload else None
                runs = own or declared
                yield ContainerSighting(pod, name, status, runs.raw if runs else {}, declared)


def _only_container(seen: Observation[Manifest]) -> str:
    """Return the name of the one container, which a table leaves out; empty if there are more."""
    names = [container.name for container in seen.data.containers()]
    return names[0] if len(names) == 1 else ""


def _concerns(field: ChangedField, target: ObjectRef) -> bool:
    document = field.document
    same = (document.kind, document.name) == (target.kind, target.name)
    return same and document.namespace in ("", target.namespace)


def _times(status: Mapping[str, Any]) -> Iterator[Any]:
    for state in ("state", "lastState"):
        yield dig(status, state, "running", "startedAt")
        yield dig(status, state, "terminated", "finishedAt")
