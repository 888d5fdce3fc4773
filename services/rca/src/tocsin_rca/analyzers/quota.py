"""Pods that a ResourceQuota refuses: a resource is used up, or a demanded field is absent."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Container
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, ObjectRef, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, owner_of, proof, sure
from tocsin_rca.evidence.node_facts import amount
from tocsin_rca.evidence.statements import Told, logged, told

_EXCEEDED = re.compile(
    r"exceeded quota: (?P<quota>[\w.-]{1,253}), requested: (?P<asked>[^\n]{1,300}?),"
    r" used: (?P<used>[^\n]{1,300}?), limited: (?P<hard>[\w./=,-]{1,300})"
)
_SHORT = re.compile(r"exceeded quota: (?P<quota>[\w.-]{1,253})")
_ABSENT = re.compile(
    r"failed quota: (?P<quota>[\w.-]{1,253}): must specify (?P<fields>[^\n]{1,500})"
)
_RESOURCE = re.compile(r"([\w./-]{1,100})=")
_ALERT = re.compile(r"KubeQuota(?:Exceeded|FullyUsed|AlmostFull)|(?i:quota.{0,40}exceeded)")
_MEMORY_OR_CPU = re.compile(r"(?P<section>requests|limits)\.(?P<resource>cpu|memory)|cpu|memory")


class Quota:
    """The API server refuses to create a pod, and names the ResourceQuota."""

    name = "quota"
    needs = "The words of the API server, the ResourceQuotas with what is used, and the alert."
    proof = (
        "The API server refuses a pod by a quota; or a quota is full and the alert says so or "
        "pods of the workload cannot be made."
    )
    against = (
        "The words are about another workload; a full quota while no pod is refused and the alert "
        "is about something else."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; with a change only if a commit asked for more than before."""
        absent = _latest(case, _ABSENT)
        if absent:
            return tuple(_requires(case, absent))
        exceeded = _latest(case, _EXCEEDED) or _latest(case, _SHORT)
        if exceeded:
            return tuple(_used_up(case, exceeded))
        return tuple(_full(case))


def _latest(case: Case, pattern: re.Pattern[str]) -> Told | None:
    found = told(case, pattern) or logged(case, pattern)
    return max(found, key=lambda one: sure(case, one.about, 1), default=None)


def _used_up(case: Case, one: Told) -> Iterator[Finding]:
    owner, said = owner_of(case, one.about), one.match.groupdict()
    if owner is None:
        return
    resources = _RESOURCE.findall(said.get("asked") or "")
    change, because, ids = _undone(case, owner, resources)
    numbers = f" of {said['hard']}, {said['used']} are in use" if said.get("hard") else ""
    quota = ObjectRef(kind="ResourceQuota", namespace=owner.namespace, name=said["quota"])
    shown = case.object(quota)
    yield Finding(
        cause=CauseClass.NAMESPACE_QUOTA_EXCEEDED,
        object=change.object if change else quota,
        confidence=sure(case, one.about, 0.95),
        summary=f"ResourceQuota {said['quota']} has no {' and '.join(resources) or 'room'} left"
        f" for {owner}:{numbers}; one more pod asks for {said.get('asked') or 'more'}.",
        evidence=proof(case, one.id, *([shown.id] if shown else []), *ids),
        change=change,
        because=because or "Whether to raise the quota or ask for less is for a person to decide.",
    )


def _undone(
    case: Case, owner: ObjectRef, resources: list[str]
) -> tuple[FieldChange | None, str, tuple[str, ...]]:
    manifest = case.manifest(owner)
    if manifest is None:
        return None, "", ()
    fields = [f for c in manifest.data.containers() for f in _fields(c, resources)]
    fields.append((("spec", "replicas"), manifest.data.dig("spec", "replicas")))
    for path, value in fields:
        commit = case.last_change(owner, path, value)
        before = commit.field.before if commit else None
        less, now = amount(before), amount(value)
        if commit and less and now and less < now:
            because = f"{commit.told} raised it from {before}; this undoes that."
            change = FieldChange(object=owner, path=path, old=value, new=before)
            return change, because, (commit.seen.id,)
    return None, "", ()


def _fields(container: Container, resources: list[str]) -> Iterator[tuple[FieldPath, Scalar]]:
    for resource in resources:
        found = _MEMORY_OR_CPU.fullmatch(resource)
        if found:
            section, what = found["section"] or "requests", found["resource"] or resource
            path = ("resources", section, what)
            if container.dig(*path) is not None:
                yield (*container.path, *path), container.dig(*path)


def _requires(case: Case, one: Told) -> Iterator[Finding]:
    owner = owner_of(case, one.about)
    if owner:
        yield Finding(
            cause=CauseClass.QUOTA_REQUIRES_FIELD,
            object=owner,
            confidence=sure(case, one.about, 0.96),
            summary=f"ResourceQuota {one.match['quota']} demands that {owner} declares"
            f" {one.match['fields'].strip()[:200]}.",
            evidence=proof(case, one.id),
            because="Nothing that was seen says how much the containers need.",
        )


def _full(case: Case) -> Iterator[Finding]:
    """A quota is used up, and the alert is about that, or the workload gets no pods."""
    alerted = _ALERT.search(alert_words(case)) is not None
    if not (alerted or _is_refused(case)):
        return
    for seen in case.objects("ResourceQuota"):
        hard = seen.data.dig("status", "hard") or {}
        used = seen.data.dig("status", "used") or {}
        full = [r for r in hard if r in used and (amount(used[r]) or 0) >= (amount(hard[r]) or 1)]
        if full:
            yield Finding(
                cause=CauseClass.NAMESPACE_QUOTA_EXCEEDED,
                object=seen.data.ref,
                confidence=0.9 if alerted else 0.85,
                summary=f"{seen.data.ref} has nothing left of {', '.join(map(str, full))}.",
                evidence=proof(case, *alert_id(case), seen.id),
            )
            return


def _is_refused(case: Case) -> bool:
    """Whether pods of the workload cannot be created, without a word why."""
    workload = case.workload_manifest
    return workload is not None and any(
        one.get("type") == "ReplicaFailure" and one.get("status") == "True"
        for one in workload.data.items("status", "conditions")
    )
