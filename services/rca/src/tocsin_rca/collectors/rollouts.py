"""The revisions of the workload, as ReplicaSets and ControllerRevisions keep them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from tocsin_cluster.events import read_time
from tocsin_cluster.manifest import Manifest, Owner, dig
from tocsin_contracts import EvidenceKind, ObjectRef, Period
from tocsin_rca.collectors.commits import field_line
from tocsin_rca.collectors.inquiry import Inquiry, Observations
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence.distances import distance
from tocsin_rca.evidence.fields import changed_scalars
from tocsin_rca.evidence.rollout import Rollout
from tocsin_rca.ports import ChangedField

MOST = 5
MOST_FIELDS = 20
KEPT_IN = {
    "Deployment": "ReplicaSet",
    "StatefulSet": "ControllerRevision",
    "DaemonSet": "ControllerRevision",
}
_NUMBER = "deployment.kubernetes.io/revision"
_EARLIER = "deployment.kubernetes.io/revision-history"
_OF_CONTROLLERS = ("metadata", "labels", "pod-template-hash")


@dataclass(frozen=True, slots=True)
class _Revision:
    """What keeps one revision, and its number."""

    kept: Manifest
    number: int

    @property
    def template(self) -> object:
        return self.kept.template or self.kept.dig("data", "spec", "template")

    @property
    def brought_back(self) -> bool:
        return dig(self.kept.raw, "metadata", "annotations", _EARLIER) is not None

    @property
    def made(self) -> datetime | None:
        return read_time(self.kept.dig("metadata", "creationTimestamp"))


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the last revisions, the newest first, with how far from the alert each began."""
    workload = target.workload
    if workload is None or workload.kind not in KEPT_IN:
        return ()
    query = f"revisions of {workload}"
    return await inquiry.ask(inquiry.cluster.source, query, _look(workload, target, inquiry))


async def _look(workload: ObjectRef, target: Target, inquiry: Inquiry) -> Observations:
    kept = await inquiry.cluster.list(KEPT_IN[workload.kind], workload.namespace)
    seen = reversed(rollouts(kept, workload, target.manifest))
    return tuple(
        inquiry.saw(
            EvidenceKind.ROLLOUT,
            f"revisions of {workload}",
            _told(rollout, target.alert.starts_at),
            rollout,
            ref=str(workload),
            window=Period(start=rollout.at, end=rollout.at) if rollout.at else None,
        )
        for rollout in seen
    )


def rollouts(
    kept: Iterable[Manifest], workload: ObjectRef, manifest: Manifest | None
) -> tuple[Rollout, ...]:
    """Return the last revisions of a workload among those that are kept, the oldest first."""
    found = _revisions(kept, Owner(workload.kind, workload.name))
    return tuple(_rollouts(found, workload, manifest))


def _revisions(kept: Iterable[Manifest], owner: Owner) -> list[_Revision]:
    own = (one for one in kept if one.owner == owner)
    numbered = ((one, _number(one)) for one in own)
    found = [_Revision(one, number) for one, number in numbered if number is not None]
    return sorted(found, key=lambda one: one.number)[-MOST - 1 :]


def _number(kept: Manifest) -> int | None:
    number = dig(kept.raw, "metadata", "annotations", _NUMBER) or kept.dig("revision")
    text = str(number)
    return int(text) if text.isdecimal() and len(text) < len(str(2**63)) else None


def _rollouts(
    found: list[_Revision], workload: ObjectRef, manifest: Manifest | None
) -> Iterator[Rollout]:
    for before, after in list(pairwise((None, *found)))[-MOST:]:
        if after:
            changed = tuple(_changed(before, after, workload)) if before else ()
            yield _rollout(after, changed, workload, manifest, found[-1])


def _rollout(
    one: _Revision,
    changed: tuple[ChangedField, ...],
    workload: ObjectRef,
    manifest: Manifest | None,
    last: _Revision,
) -> Rollout:
    latest = one is last
    at = one.made
    if one.brought_back:
        at = _progressed(manifest) if latest and manifest else None
    return Rollout(workload, one.number, at, one.brought_back, latest, changed)


def _progressed(manifest: Manifest) -> datetime | None:
    conditions = manifest.items("status", "conditions")
    times = (c.get("lastUpdateTime") for c in conditions if c.get("type") == "Progressing")
    return read_time(next(times, None))


def _changed(before: _Revision, after: _Revision, workload: ObjectRef) -> Iterator[ChangedField]:
    if not (before.kept.whole and after.kept.whole):
        return
    for path, old, new in changed_scalars(before.template, after.template):
        if path != _OF_CONTROLLERS:
            yield ChangedField(workload, ("spec", "template", *path), old, new)


def _told(rollout: Rollout, start: datetime | None) -> str:
    verb = "was brought back" if rollout.brought_back else "began"
    when = f" at {rollout.at.isoformat()}" if rollout.at else ", nobody knows when"
    away = distance(rollout.at, start) if rollout.at else ""
    head = f"revision {rollout.revision} of {rollout.workload} {verb}{when}"
    lines = [", ".join(filter(None, (head, away)))]
    lines += ["it is the latest"] if rollout.latest else []
    lines += [field_line(field) for field in rollout.changed[:MOST_FIELDS]]
    more = len(rollout.changed) - MOST_FIELDS
    return "\n".join([*lines, f"  and {more} more fields"] if more > 0 else lines)
