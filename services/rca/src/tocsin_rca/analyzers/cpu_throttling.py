"""Containers that are slowed down at their own CPU limit."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from tocsin_cluster.manifest import Container, Manifest
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, is_ours, proof
from tocsin_rca.evidence.node_facts import amount
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.sizes import doubled_cpu
from tocsin_rca.evidence.statements import logged, told

_LIMIT = ("resources", "limits", "cpu")
_SAID = re.compile(
    r"(?i)cpu.?throttl|throttl\w{0,4}[^\n]{0,40}\bcpu|nr_throttled[\" =:]{1,4}[1-9]"
    r"|cpu[^\n]{0,60}\bthrottled"
    r"|cfs[_ ]throttl[a-z_]{0,30}(?![^\n0-9]{0,50}0(?:\.0{1,4})?(?![\d.]))"
)
_BARELY = Decimal("0.9")
_Change = tuple[FieldChange | None, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Limited:
    """A container with a CPU limit, and whether it was seen to meet it."""

    workload: Observation[Manifest]
    container: Container
    meets: bool

    @property
    def limit(self) -> Scalar:
        found: Scalar = self.container.dig(*_LIMIT)
        return found

    @property
    def ref(self) -> ObjectRef:
        return self.workload.data.ref


class CpuThrottling:
    """The alert, a log or a measurement says so, and there is a limit to be met."""

    name = "cpu_throttling"
    needs = (
        "The CPU limits of the containers, what they take, and what the alert, logs and "
        "measurements say."
    )
    proof = (
        "Throttling is told of, or an alert about CPU or slowness meets a container at nine "
        "tenths of its limit; and there is a limit."
    )
    against = (
        "No CPU limit, several limited containers of which none stands out, and throttling of "
        "another workload."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the limit goes back to what a commit took away, or doubles."""
        limited = list(_limited(case))
        said = (
            *logged(case, _SAID),
            *(one for one in told(case, _SAID) if is_ours(case, one.about)),
        )
        alerted = _SAID.search(alert_words(case)) is not None
        chosen = _chosen(case, limited)
        if chosen is None or not (said or alerted or (chosen.meets and _about_cpu(case))):
            return ()
        change, because, ids = _change(case, chosen)
        told_by = (*(one.id for one in said[:3]), *(alert_id(case) if alerted else ()))
        return (
            Finding(
                cause=CauseClass.CPU_THROTTLING_LIMIT_TOO_LOW,
                object=chosen.ref,
                confidence=0.92 if alerted or chosen.meets else 0.86,
                summary=f"Container {chosen.container.name} of {chosen.ref} is slowed down at its"
                f" CPU limit of {chosen.limit}.",
                evidence=proof(case, chosen.workload.id, *told_by, *ids),
                change=change,
                because=because,
            ),
        )


def _about_cpu(case: Case) -> bool:
    return re.search(r"(?i)\bcpu|cpu\b|latency|slow", alert_words(case)) is not None


def _limited(case: Case) -> Iterator[_Limited]:
    workload = case.workload_manifest
    for container in workload.data.containers() if workload else ():
        limit = amount(container.dig(*_LIMIT))
        if workload and limit:
            used = (
                Decimal(one.data.cpu)
                for one in case.usage
                if one.data.cpu is not None
                and one.data.about.kind == "Pod"
                and is_ours(case, one.data.about)
                and one.data.container in ("", container.name)
            )
            yield _Limited(workload, container, max(used, default=Decimal(0)) >= _BARELY * limit)


def _chosen(case: Case, limited: list[_Limited]) -> _Limited | None:
    """Return the container that is meant: named by the alert, at its limit, or the only one."""
    named = case.alert.labels.get("container")
    own = [one for one in limited if one.container.name == named]
    at_limit = [one for one in limited if one.meets]
    for found in (own, at_limit, limited):
        if len(found) == 1:
            return found[0]
    return None


def _change(case: Case, chosen: _Limited) -> _Change:
    path, limit = (*chosen.container.path, *_LIMIT), amount(chosen.limit)
    commit = case.last_change(chosen.ref, path, chosen.limit)
    before = amount(commit.field.before) if commit else None
    if commit and before and limit and before > limit:
        because = f"{commit.told} lowered it from {commit.field.before}; this undoes that."
        change = FieldChange(
            object=chosen.ref, path=path, old=chosen.limit, new=commit.field.before
        )
        return change, because, (commit.seen.id,)
    new = doubled_cpu(limit) if limit else None
    if new is None:
        return (
            None,
            f"{chosen.limit} is outside the sizes that may be doubled without a person.",
            (),
        )
    because = f"No commit that was seen lowered it; {new} is the next usual size from twice it."
    return FieldChange(object=chosen.ref, path=path, old=chosen.limit, new=new), because, ()
