"""Who calls whom inside a cluster: the Service that a host means, and the pods behind it."""

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import texts
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.configured import configured
from tocsin_rca.evidence.hosts import Place, is_host_name, means, places
from tocsin_rca.evidence.known import Known, Runs, known, running
from tocsin_rca.evidence.policies import Door, End
from tocsin_rca.evidence.selectors import selects

_LONGEST_VALUE = 4000


@dataclass(frozen=True, slots=True)
class Callee:
    """A Service that is called, and what runs the pods it selects, if that is known."""

    service: Known
    runs: Runs | None
    door: Door


@dataclass(frozen=True, slots=True)
class Edge:
    """One workload is configured to call another."""

    caller: Runs
    callee: Callee


def callee(case: Case, place: Place, namespace: str) -> Callee | None:
    """Return whom a pod in a namespace asks at a place; None if no known Service is meant."""
    for service in known(case, "Service"):
        own = service.manifest.dig("spec", "clusterIP")
        if means(place, service.ref, namespace) or (place.is_address and own == place.host):
            return _behind(case, service, place.port)
    return None


def edges(case: Case) -> Iterator[Edge]:
    """Yield the calls that workloads are configured to make, each caller and Service once."""
    services = known(case, "Service")
    for namespace in {service.ref.namespace for service in services}:
        for caller in running(case, namespace):
            asked = {
                service.ref: place
                for place in _told(case, caller)
                for service in services
                if means(place, service.ref, namespace)
            }
            for service in services:
                if service.ref in asked:
                    yield Edge(caller, _behind(case, service, asked[service.ref].port))


def end(case: Case, runs: Runs) -> End:
    """Return what a policy can know of the pods that something runs."""
    namespace = runs.ref.namespace
    found = next((n for n in known(case, "Namespace") if n.ref.name == namespace), None)
    labels = found.manifest.labels if found else {}
    return End(namespace, runs.labels or None, labels or None)


def _told(case: Case, runs: Runs) -> Iterator[Place]:
    for setting in configured(case, runs):
        value = setting.value[:_LONGEST_VALUE]
        yield from places(value)
        if is_host_name(value.strip()):
            yield Place(value.strip())
    for container in runs.known.manifest.containers():
        for word in (*(container.raw.get("command") or ()), *(container.raw.get("args") or ())):
            yield from places(str(word)[:_LONGEST_VALUE])


def _behind(case: Case, service: Known, port: int | None) -> Callee:
    selector = texts(service.manifest.dig("spec", "selector"))
    behind = [r for r in running(case, service.ref.namespace) if selects(selector, r.labels)]
    runs = behind[0] if behind else None
    return Callee(service, runs, _door(service, runs, port))


def _door(service: Known, runs: Runs | None, port: int | None) -> Door:
    ports = service.manifest.items("spec", "ports")
    asked = [raw for raw in ports if raw.get("port") == port] or list(ports[:1])
    if not asked:
        return Door(port)
    target = asked[0].get("targetPort", asked[0].get("port"))
    protocol = str(asked[0].get("protocol") or "TCP")
    for container in runs.containers if runs else ():
        for raw in container.items("ports"):
            if target in (raw.get("containerPort"), raw.get("name")):
                number = raw.get("containerPort")
                return Door(
                    number if isinstance(number, int) else None,
                    protocol,
                    str(raw.get("name") or ""),
                )
    return Door(target if isinstance(target, int) else None, protocol)
