"""Routes of gateways and meshes that lead to a Service, port or subset that is not there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from tocsin_cluster.manifest import dig
from tocsin_contracts import CauseClass, FieldPath, Finding, ObjectRef, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hosts import Place, means
from tocsin_rca.evidence.known import Known, known
from tocsin_rca.evidence.remedy import valued
from tocsin_rca.evidence.selectors import is_named_for

_ROUTES = ("HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute")
_REFUSED = ("ResolvedRefs", "Accepted", "Programmed")
_ALIKE = 0.7


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A field that leads nowhere, and what would lead somewhere; None where that is not known."""

    path: FieldPath
    old: Scalar
    new: Scalar
    sentence: str
    sure: float


class GatewayRoute:
    """A route refers to what does not exist, or its gateway does not take it."""

    name = "gateway_route"
    needs = "The routes with their status, and the Services, Gateways and DestinationRules."
    proof = (
        "A route names a Service, port, Gateway, host or subset that does not exist, or its "
        "gateway refuses it."
    )
    against = (
        "What it could lead to was not seen; it is less sure if nothing has nearly the name that "
        "is written."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each wrong reference, or each refusal where none is known."""
        found: list[Finding] = []
        for kind in _ROUTES:
            for route in known(case, kind):
                wrong = list(_of_route(case, route)) or list(_refused(route))
                found += [_finding(case, route, one) for one in wrong]
        for route in known(case, "VirtualService"):
            found += [_finding(case, route, one) for one in _of_mesh(case, route)]
        return tuple(found)


def _of_route(case: Case, route: Known) -> Iterator[_Wrong]:
    for at, rule in enumerate(route.manifest.items("spec", "rules")):
        for nth, backend in enumerate(_list(rule, "backendRefs")):
            path = ("spec", "rules", at, "backendRefs", nth)
            namespace = str(backend.get("namespace") or route.ref.namespace)
            if backend.get("kind", "Service") == "Service":
                yield from _service(case, path, namespace, backend)
    for nth, parent in enumerate(route.manifest.items("spec", "parentRefs")):
        gateways = [one.ref.name for one in known(case, "Gateway")]
        name = str(parent.get("name") or "")
        if gateways and name not in gateways and parent.get("kind", "Gateway") == "Gateway":
            field = ("spec", "parentRefs", nth, "name")
            sentence = f"belongs to Gateway {name}, which does not exist"
            yield _nearest(field, name, gateways, sentence)


def _service(
    case: Case, path: FieldPath, namespace: str, backend: Mapping[str, Any]
) -> Iterator[_Wrong]:
    services = [s for s in known(case, "Service") if s.ref.namespace == namespace]
    name, port = str(backend.get("name") or ""), backend.get("port")
    own = next((s for s in services if s.ref.name == name), None)
    if services and own is None:
        names = [service.ref.name for service in services]
        sentence = f"leads to Service {name}, which does not exist"
        yield _nearest((*path, "name"), name, names, sentence)
    ports = [one.get("port") for one in own.manifest.items("spec", "ports")] if own else []
    if own and port is not None and ports and port not in ports:
        new = ports[0] if len(ports) == 1 else None
        yield _Wrong((*path, "port"), port, new, f"leads to port {port} of {own.ref}, which has"
                     f" {', '.join(map(str, ports))}", 0.93 if new else 0.85)  # fmt: skip


def _of_mesh(case: Case, route: Known) -> Iterator[_Wrong]:
    for kind in ("http", "tcp", "tls"):
        for at, rule in enumerate(route.manifest.items("spec", kind)):
            for nth, step in enumerate(_list(rule, "route")):
                target = dig(step, "destination") or {}
                path = ("spec", kind, at, "route", nth, "destination")
                yield from _destination(case, route, path, target)


def _destination(
    case: Case, route: Known, path: FieldPath, target: Mapping[str, Any]
) -> Iterator[_Wrong]:
    host, subset = str(target.get("host") or ""), target.get("subset")
    place, namespace = Place(host), route.ref.namespace
    near = [s for s in known(case, "Service") if s.ref.namespace == namespace]
    if near and place.may_be_a_service and place.service(namespace).namespace == namespace:
        names = [service.ref.name for service in near]
        if not any(means(place, service.ref, namespace) for service in near):
            yield _nearest((*path, "host"), host, names, f"leads to {host}, which does not exist")
    rules = [
        rule
        for rule in known(case, "DestinationRule")
        if str(rule.manifest.dig("spec", "host")).partition(".")[0] == host.partition(".")[0]
    ]
    subsets = [str(one.get("name")) for r in rules for one in r.manifest.items("spec", "subsets")]
    if isinstance(subset, str) and rules and subset not in subsets:
        sentence = f"leads to subset {subset} of {host}, which no DestinationRule has"
        yield _nearest((*path, "subset"), subset, subsets, sentence)


def _refused(route: Known) -> Iterator[_Wrong]:
    for parent in route.manifest.items("status", "parents"):
        for condition in _list(parent, "conditions"):
            if condition.get("type") in _REFUSED and condition.get("status") == "False":
                said = f"{condition.get('reason')}: {condition.get('message')}"
                yield _Wrong((), None, None, f"is not taken by its gateway ({said[:200]})", 0.88)


def _nearest(path: FieldPath, name: str, names: list[str], sentence: str) -> _Wrong:
    near = [one for one in names if is_named_for(one, name)]
    near = near or [one for one in names if SequenceMatcher(None, name, one).ratio() >= _ALIKE]
    new = near[0] if len(near) == 1 else None
    return _Wrong(path, name, new, sentence, 0.93 if new else 0.85)


def _list(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = data.get(key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _finding(case: Case, route: Known, wrong: _Wrong) -> Finding:
    undone = case.last_change(route.ref, wrong.path, wrong.old) if wrong.path else None
    new = undone.field.before if undone and undone.field.before is not None else wrong.new
    because = f"{undone.told} changed it; this undoes that." if undone else (
        f"{new} is the only one that can be meant." if new else "None is surely meant."
    )  # fmt: skip
    ref: ObjectRef = route.ref
    change = valued(ref, wrong.path, wrong.old, new)
    return Finding(
        cause=CauseClass.GATEWAY_ROUTE_WRONG,
        object=ref,
        confidence=wrong.sure,
        summary=f"{ref} {wrong.sentence}.",
        evidence=(*route.ids, *((undone.seen.id,) if undone else ())),
        change=change if new is not None and wrong.path else None,
        because=because,
    )
