"""Autoscalers that cannot compute: a request is missing, or the metric is not there."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_cluster.manifest import dig
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.autoscalers import Autoscaler, autoscalers
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof
from tocsin_rca.evidence.pod_needs import containers_of, spec_of
from tocsin_rca.evidence.remedy import Remedy, with_remedy
from tocsin_rca.evidence.requesting import request_cpu
from tocsin_rca.evidence.statements import Told, statements, told

_REQUEST = re.compile(
    r"missing request for (?P<resource>[\w./-]{1,100})"
    r"(?: in container \\?\"?(?P<container>[\w.-]{1,63}))?"
)
_METRIC = re.compile(
    r"(?:unable to (?:get|fetch) (?:external |custom |object |pod )?metrics?"
    r"|failed to get (?:\w{1,20} )?(?:(?:external|object|pods) metric|resource metric value)"
    r"|no metrics returned from|did not receive metrics for|no custom metrics API"
    r"|no external metrics API|the HPA was unable to compute the replica count)[^\n]{0,300}"
)
_WEAK = re.compile(r"did not receive metrics for|no metrics returned from")
_SCALER = "HorizontalPodAutoscaler"


class AutoscalerMetrics:
    """The autoscaler says which metric it lacks, and why."""

    name = "autoscaler_metrics"
    needs = (
        "What autoscalers say in events and conditions, their targets, and the requests of the "
        "containers."
    )
    proof = "The autoscaler says which request or metric it lacks, or shows its metric as unknown."
    against = (
        "A condition that says it does scale; pods that are not ready, as there are no metrics "
        "of them yet."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; CPU that nothing requests is requested as much as was measured."""
        if any(one.condition("ScalingActive").startswith("True") for one in autoscalers(case)):
            return ()
        for pattern, make in ((_REQUEST, _requests_none), (_METRIC, _unavailable)):
            found = _said(case, pattern)
            if found:
                return (make(case, found[-1]),)
        return tuple(_wordless(case))


def _said(case: Case, pattern: re.Pattern[str]) -> tuple[Told, ...]:
    """Return what autoscalers said; a text counts if it is about one."""
    own = tuple(
        Told(one, match)
        for one in statements(case)
        if one.about and one.about.kind == _SCALER and (match := pattern.search(one.text))
    )
    return own or tuple(one for one in told(case, pattern) if one.about is None)


def _wordless(case: Case) -> Iterator[Finding]:
    """Yield what a target of `<unknown>` means, where no message says it."""
    for one in autoscalers(case):
        said = next((s for s in case.texts() if one.is_unknown_in(s.data.text)), None)
        if said is None:
            continue
        manifest, absent = case.manifest(one.target), _unrequested(case, one)
        if absent and manifest:
            finding = Finding(
                cause=CauseClass.HPA_MISSING_REQUEST,
                object=one.target,
                confidence=0.88,
                summary=f"{one.ref} cannot compute the use of {absent}: {one.target} does not"
                " request any.",
                evidence=proof(case, said.id, manifest.id),
                because="Nothing that was seen says how much the containers need.",
            )
            yield with_remedy(finding, _requests(case, one.target, absent))
        else:
            yield Finding(
                cause=CauseClass.HPA_METRIC_UNAVAILABLE,
                object=one.ref,
                confidence=0.78,
                summary=f"{one.ref} does not know its metric.",
                evidence=proof(case, said.id),
                because="The metrics come from a service of the cluster, not from this workload.",
            )
        return


def _unrequested(case: Case, one: Autoscaler) -> str:
    """Return the resource that the autoscaler watches and a container does not request."""
    file, target = case.declaration(one.ref), case.manifest(one.target)
    declared = file.data.manifest if file else one.seen.data
    watched = [str(dig(m, "resource", "name")) for m in declared.items("spec", "metrics")]
    containers = containers_of(spec_of(target.data)) if target else ()
    for resource in watched or ["cpu"]:
        if any(not _asks(container, resource) for container in containers):
            return resource
    return ""


def _asks(container: Mapping[str, Any], resource: str) -> bool:
    return any(dig(container, "resources", key, resource) for key in ("requests", "limits"))


def _requests_none(case: Case, one: Told) -> Finding:
    owner = _scaled(case, one)
    container = one.match["container"]
    where = f"container {container} of {owner}" if container else f"a container of {owner}"
    finding = Finding(
        cause=CauseClass.HPA_MISSING_REQUEST,
        object=owner,
        confidence=0.95,
        summary=f"The autoscaler cannot compute the use of {one.match['resource']}: {where}"
        " requests none.",
        evidence=proof(case, one.id),
        because="Nothing that was seen says how much the container needs.",
    )
    return with_remedy(finding, _requests(case, owner, one.match["resource"]))


def _requests(case: Case, owner: ObjectRef, resource: str) -> Remedy | None:
    """How much memory is right nobody can tell; of CPU a small request does no harm."""
    return request_cpu(case, owner) if resource == "cpu" else None


def _unavailable(case: Case, one: Told) -> Finding:
    subject = one.about or _named(case)
    unready = any(not container.ready for container in case.containers)
    weak = unready and _WEAK.search(one.statement.text) is not None
    return Finding(
        cause=CauseClass.HPA_METRIC_UNAVAILABLE,
        object=subject,
        confidence=0.65 if weak else 0.93,
        summary=f"{subject} does not scale: {one.match.group()[:240]}.",
        evidence=proof(case, one.id),
        because="The metrics come from a service of the cluster, not from this workload.",
    )


def _scaled(case: Case, one: Told) -> ObjectRef:
    targets = [a.target for a in autoscalers(case) if one.about in (None, a.ref)]
    known = [target for target in targets if target.name]
    return known[0] if known else owner_of(case, one.about) or _named(case)


def _named(case: Case) -> ObjectRef:
    own = [one.ref for one in autoscalers(case)]
    fallback = case.named or ObjectRef(kind=_SCALER, name="unknown")
    return own[0] if own else fallback
