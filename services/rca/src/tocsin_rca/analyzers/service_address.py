"""Clients that are told a host or a port which no Service has, while one nearly has it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.calls import Call, How, failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.configured import Configured, configured
from tocsin_rca.evidence.hosts import Place, is_host_name, means, places
from tocsin_rca.evidence.known import Known, known, running
from tocsin_rca.evidence.sightings import Change

_HOST_NAME = re.compile(
    r"(?i)(?:^|[_.-])(?:host|hostname|addr|address|server|endpoint|service|ur[il])$"
)
_PORT_NAME = re.compile(r"(?i)(?:^|[_.-])port$")
_ALIKE = 0.75
_LONGEST_VALUE = 300


@dataclass(frozen=True, slots=True)
class _Told:
    """What a client is told, the place it means by it, and the failed calls that bear it out."""

    setting: Configured
    place: Place
    failed: tuple[Call, ...]

    @property
    def unknown(self) -> bool:
        """Whether a call failed because the host has no address: then no Service is called so."""
        return any(call.how is How.NO_NAME for call in self.failed)


@dataclass(frozen=True, slots=True)
class _Right:
    """The value that would lead somewhere, if one does, and why it is that."""

    value: str | None
    because: str
    service: Known | None
    sureness: float
    seen: tuple[str, ...] = ()


class ServiceAddress:
    """A setting names a Service that does not exist, or a port that its Service does not have."""

    name = "service_address"
    needs = "The settings of workloads, the Services, and failed calls in logs or checks."
    proof = (
        "A setting names a Service or a port that none has, and a Service nearly has it, or a "
        "commit took a right one away."
    )
    against = "No call was seen to fail; no Service was seen at all; several Services are as near."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such setting; none where no Service was seen at all."""
        services = known(case, "Service")
        if not services:
            return ()
        calls = failed_calls(case)
        namespaces = {service.ref.namespace for service in services}
        namespaces |= {case.workload.namespace} if case.workload else set()
        asked = (told for ns in namespaces for told in _told(case, ns, calls))
        found = (_finding(case, one, services) for one in asked)
        return tuple(finding for finding in found if finding is not None)


def _told(case: Case, namespace: str, calls: tuple[Call, ...]) -> Iterator[_Told]:
    for runs in running(case, namespace):
        settings = tuple(configured(case, runs))
        for setting in settings:
            for place in _places(setting, settings):
                failed = tuple(c for c in calls if c.place and c.place.host == place.host)
                yield _Told(setting, place, failed)


def _places(setting: Configured, others: tuple[Configured, ...]) -> Iterator[Place]:
    if len(setting.value) > _LONGEST_VALUE or "\n" in setting.value.strip():
        return
    found = list(places(setting.value))
    if not found and _HOST_NAME.search(setting.name) and is_host_name(setting.value.strip()):
        found = [Place(setting.value.strip())]
    if not found and _PORT_NAME.search(setting.name) and setting.value.isdigit():
        host = _host_beside(setting, others)
        found = [Place(host, int(setting.value))] if host else []
    yield from (place for place in found if place.may_be_a_service)


def _host_beside(setting: Configured, others: tuple[Configured, ...]) -> str | None:
    """The host that stands beside a port: REDIS_HOST beside REDIS_PORT."""
    stem = _PORT_NAME.sub("", setting.name)
    for other in others:
        same = _HOST_NAME.sub("", other.name) == stem and _HOST_NAME.search(other.name)
        if same and is_host_name(other.value.strip()):
            return other.value.strip()
    return None


def _finding(case: Case, told: _Told, services: tuple[Known, ...]) -> Finding | None:
    namespace = told.setting.runs.ref.namespace
    asked = [s for s in services if means(told.place, s.ref, namespace)]
    if asked:
        right = _port_of(case, told, asked[0])
    elif told.place.service(namespace).namespace in {
        namespace,
        *(s.ref.namespace for s in services),
    }:
        right = _name_of(case, told, services)
    else:
        right = None
    return _said(case, told, right) if right else None


def _port_of(case: Case, told: _Told, service: Known) -> _Right | None:
    ports = [port.get("port") for port in service.manifest.items("spec", "ports")]
    asked = told.place.port
    if asked is None or asked in ports or not ports:
        return None
    before = _before(case, told)
    if before:
        return _restored(before, service)
    if len(ports) == 1:
        value = re.sub(rf"(?<!\d){asked}(?!\d)", str(ports[0]), told.setting.value, count=1)
        because = f"{ports[0]} is the only port that {service.ref} has."
        return _Right(value, because, service, 0.93)
    return _Right(None, f"{service.ref} has several ports; none is surely meant.", service, 0.85)


def _name_of(case: Case, told: _Told, services: tuple[Known, ...]) -> _Right | None:
    before = _before(case, told)
    namespace, host = told.setting.runs.ref.namespace, told.place.host
    name = told.place.service(namespace).name
    if before and any(
        means(place, s.ref, namespace)
        for place in [*places(str(before.field.before)), Place(str(before.field.before))]
        for s in services
    ):
        return _restored(before, None)
    near = [s for s in services if s.ref.namespace == told.place.service(namespace).namespace]
    alike = [s for s in near if _is_alike(name, s.ref.name) and _has_port(s, told.place.port)]
    if len(alike) == 1:
        value = told.setting.value.replace(host, alike[0].ref.name + host[len(name) :], 1)
        because = f"{alike[0].ref} is the only Service with a name like that."
        return _Right(value, because, alike[0], 0.92)
    return _meant(told, near, name) or _elsewhere(told, services)


def _meant(told: _Told, near: list[Known], name: str) -> _Right | None:
    """The Service that the setting itself is called after: CART_ADDR stands for `cart`."""
    stem = _HOST_NAME.sub("", told.setting.name).lower().replace("_", "-").strip("-")
    found = [s for s in near if s.ref.name == stem and _has_port(s, told.place.port)]
    if not found or not told.unknown:
        return None
    host = told.place.host
    value = told.setting.value.replace(host, stem + host[len(name) :], 1)
    because = f"{found[0].ref} has the name and the port that {told.setting.name} is about."
    return _Right(value, because, found[0], 0.93)


def _elsewhere(told: _Told, services: tuple[Known, ...]) -> _Right | None:
    """The Service of that very name in another namespace, which a short name does not reach."""
    host = told.place.host
    found = [s for s in services if s.ref.name == host and _has_port(s, told.place.port)]
    if len(found) != 1 or not told.unknown:
        return None
    value = told.setting.value.replace(host, f"{host}.{found[0].ref.namespace}", 1)
    because = f"{found[0].ref} is the only Service of that name, and it is in another namespace."
    return _Right(value, because, found[0], 0.93)


def _is_alike(one: str, other: str) -> bool:
    if one == other:
        return False
    contains = one.startswith(other) or other.startswith(one)
    return contains or SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _has_port(service: Known, port: int | None) -> bool:
    return port in (None, *(p.get("port") for p in service.manifest.items("spec", "ports")))


def _before(case: Case, told: _Told) -> Change | None:
    return case.last_change(told.setting.object, told.setting.path, told.setting.value)


def _restored(change: Change, service: Known | None) -> _Right:
    because = f"{change.told} changed it from {change.field.before}; this undoes that."
    before = change.field.before
    value = str(before) if before is not None else None
    return _Right(value, because, service, 0.95, (change.seen.id,))


def _said(case: Case, told: _Told, right: _Right) -> Finding:
    setting = told.setting
    sure = right.sureness - (0 if told.failed else _unproven(case, told, right))
    ids = [*setting.ids, *(right.service.ids if right.service else ()), *right.seen]
    ids += [call.line.id for call in told.failed[:3]]
    wanted = f"{told.place.host}:{told.place.port}" if told.place.port else told.place.host
    change = FieldChange(
        object=setting.object, path=setting.path, old=setting.value, new=right.value
    )
    return Finding(
        cause=CauseClass.SERVICE_ADDRESS_MISMATCH,
        object=setting.object,
        confidence=round(sure, 2),
        summary=f"{setting.runs.ref} asks {wanted}, as {setting.name} tells it;"
        f" no Service has that {'port' if told.place.port and _names(right, told) else 'name'}.",
        evidence=tuple(dict.fromkeys(ids)),
        change=change if right.value is not None else None,
        because=right.because,
    )


def _unproven(case: Case, told: _Told, right: _Right) -> float:
    """What it costs that no call is seen to fail: a Service of that name may not have been seen."""
    if not _names(right, told):
        return 0.3
    return 0.1 if told.setting.runs.ref == case.workload else 0.2


def _names(right: _Right, told: _Told) -> bool:
    namespace = told.setting.runs.ref.namespace
    return right.service is not None and means(told.place, right.service.ref, namespace)
