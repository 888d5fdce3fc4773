"""The Services that should lead to the pods, and which pods each one selects."""

from tocsin_cluster.manifest import Manifest, texts
from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.collectors.inquiry import Inquiry, Observations
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence import Observation, ServiceView
from tocsin_rca.evidence.selectors import differing_keys, is_named_for, selects


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return each Service of the namespace that concerns the alert."""
    if target.named is None:
        return ()
    query = f"Services in {target.namespace}"
    return await inquiry.ask(inquiry.cluster.source, query, _look(target, inquiry))


async def _look(target: Target, inquiry: Inquiry) -> Observations:
    services = await inquiry.cluster.list("Service", target.namespace)
    concerned = [service for service in services if _concerns(service, target)]
    pods = await inquiry.cluster.list("Pod", target.namespace) if concerned else ()
    return tuple(_seen(service, pods, inquiry) for service in concerned)


def _seen(
    service: Manifest, pods: tuple[Manifest, ...], inquiry: Inquiry
) -> Observation[ServiceView]:
    selector = texts(service.dig("spec", "selector"))
    chosen = tuple(pod.ref.name for pod in pods if selects(selector, pod.labels))
    text = f"selects: {', '.join(chosen) or 'no pod'}\n{excerpt(service)}"
    view = ServiceView(service, chosen)
    return inquiry.saw(EvidenceKind.OBJECT, f"get {service.ref} and its pods", text, view)


def _concerns(service: Manifest, target: Target) -> bool:
    selector = texts(service.dig("spec", "selector"))
    if service.ref == target.named:
        return True
    if target.workload and is_named_for(service.ref.name, target.workload.name):
        return True
    misses = [len(differing_keys(selector, pod.labels)) for pod in target.pods]
    return bool(misses) and min(misses) <= min(1, len(selector) - 1)
