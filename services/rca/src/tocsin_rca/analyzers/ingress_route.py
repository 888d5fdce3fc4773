"""Ingresses that lead to a Service or port that is not there, or that no controller looks after."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from tocsin_cluster.manifest import dig
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, Scalar
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.known import Known, known
from tocsin_rca.evidence.remedy import valued
from tocsin_rca.evidence.statements import told

_ALIKE = 0.7
_ABSENT = re.compile(r"<error: (?:services|endpoints) \"(?P<name>[\w.-]{1,253})\" not found>")
_ANNOTATION = "kubernetes.io/ingress.class"
_NO_CLASS = re.compile(
    r"(?i)ingress class|IngressClass|No resources found|does not contain a valid"
)


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A field of an Ingress that leads nowhere, and what would lead somewhere."""

    path: FieldPath
    old: Scalar
    new: Scalar
    sentence: str
    because: str
    sure: float
    seen: tuple[str, ...] = ()
    further: tuple[FieldChange, ...] = ()


class IngressRoute:
    """What an Ingress refers to does not exist."""

    name = "ingress_route"
    needs = (
        "The Ingresses, the Services of their namespaces, the classes that exist, and the commits."
    )
    proof = (
        "An Ingress names a Service, port or class that does not exist, or a commit led it away "
        "from the right Service."
    )
    against = (
        "There was nothing to compare it with, no right value is certain, or the Ingress is in "
        "another namespace than the alert."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each wrong backend and each wrong class."""
        found: list[Finding] = []
        for ingress in known(case, "Ingress"):
            wrong = [(one, CauseClass.INGRESS_MISROUTE) for one in _backends(case, ingress)]
            wrong += [(one, CauseClass.INGRESS_CLASS_NOT_FOUND) for one in _classes(case, ingress)]
            found += [_finding(case, ingress, one, cause) for one, cause in wrong]
        return tuple(found) or _described(case)


def _described(case: Case) -> tuple[Finding, ...]:
    """What a description of an Ingress itself says is not there."""
    found = [one for one in told(case, _ABSENT) if one.about is None]
    return tuple(
        Finding(
            cause=CauseClass.INGRESS_MISROUTE,
            object=case.named or subject(case),
            confidence=0.88,
            summary=f"It leads to Service {one.match['name']}, which does not exist.",
            evidence=(one.id,),
            because="No Service is surely meant.",
        )
        for one in found[:1]
    )


def _backends(case: Case, ingress: Known) -> Iterator[_Wrong]:
    services = [s for s in known(case, "Service") if s.ref.namespace == ingress.ref.namespace]
    if not services:
        return
    for path, backend in _declared(ingress):
        name = str(dig(backend, "service", "name") or "")
        own = next((s for s in services if s.ref.name == name), None)
        if name and own is None:
            yield _no_service(case, ingress, path, name, services)
        elif own:
            yield from [*_no_port(case, ingress, path, backend, own)] or _diverted(
                case, ingress, path, own, services
            )


def _declared(ingress: Known) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    default = ingress.manifest.dig("spec", "defaultBackend")
    if isinstance(default, Mapping):
        yield ("spec", "defaultBackend"), default
    for at, rule in enumerate(ingress.manifest.items("spec", "rules")):
        paths = dig(rule, "http", "paths")
        for nth, path in enumerate(paths if isinstance(paths, list) else ()):
            backend = dig(path, "backend")
            if isinstance(backend, Mapping):
                yield ("spec", "rules", at, "http", "paths", nth, "backend"), backend


def _no_service(
    case: Case, ingress: Known, path: FieldPath, name: str, services: list[Known]
) -> _Wrong:
    field = (*path, "service", "name")
    undone = case.last_change(ingress.ref, field, name)
    names = [service.ref.name for service in services]
    if undone and undone.field.before in names:
        because = f"{undone.told} changed it from {undone.field.before}; this undoes that."
        new: Scalar = undone.field.before
    else:
        near = [one for one in names if _is_alike(name, one)]
        new = near[0] if len(near) == 1 else None
        because = f"{new} is the only Service with a name like that." if new else (
            "No Service is surely meant."
        )  # fmt: skip
    return _Wrong(
        field, name, new, f"leads to Service {name}, which does not exist", because,
        0.93 if new else 0.85, tuple(i for s in services for i in s.ids)[:4],
    )  # fmt: skip


def _diverted(
    case: Case, ingress: Known, path: FieldPath, own: Known, services: list[Known]
) -> Iterator[_Wrong]:
    """A commit led it away from the very Service that the alert is about."""
    field = (*path, "service", "name")
    undone = case.last_change(ingress.ref, field, own.ref.name)
    before = next((s for s in services if undone and s.ref.name == undone.field.before), None)
    if undone is None or before is None or before.ref != case.named:
        return
    ports = [port.get("port") for port in before.manifest.items("spec", "ports")]
    number = (*path, "service", "port", "number")
    asked = ingress.manifest.dig(*number)
    moves = asked is not None and asked not in ports
    further = _moved(case, ingress, number, asked, ports) if moves else ()
    if moves and not further:
        return
    yield _Wrong(
        field, own.ref.name, before.ref.name,
        f"leads to {own.ref} what is meant for {before.ref}",
        f"{undone.told} changed it from {undone.field.before}; this undoes that.",
        0.9, (undone.seen.id, *before.ids), further,
    )  # fmt: skip


def _moved(
    case: Case, ingress: Known, path: FieldPath, asked: Scalar, ports: list[Any]
) -> tuple[FieldChange, ...]:
    """The port that went with the Service, back to one that the right Service has."""
    undone = case.last_change(ingress.ref, path, asked)
    before = undone.field.before if undone else None
    if before not in ports:
        return ()
    moved = valued(ingress.ref, path, asked, before)
    return (moved,) if moved else ()


def _no_port(
    case: Case, ingress: Known, path: FieldPath, backend: Mapping[str, Any], service: Known
) -> Iterator[_Wrong]:
    ports = service.manifest.items("spec", "ports")
    for kind, asked in (dig(backend, "service", "port") or {}).items():
        field = {"number": "port", "name": "name"}.get(kind, "")
        offered = [port.get(field) for port in ports if port.get(field)]
        if not field or asked in offered or not (offered or service.manifest.whole):
            continue
        new = offered[0] if len(ports) == 1 and offered else None
        undone = case.last_change(ingress.ref, (*path, "service", "port", kind), asked)
        if undone and undone.field.before in offered:
            new = undone.field.before
        yield _Wrong(
            (*path, "service", "port", kind), asked, new,
            f"leads to port {asked} of {service.ref}, which has {offered or 'no such port'}",
            f"{new} is a port that the Service has." if new else "No port is surely meant.",
            0.93 if new else 0.85, service.ids,
        )  # fmt: skip


def _classes(case: Case, ingress: Known) -> Iterator[_Wrong]:
    path: FieldPath = ("spec", "ingressClassName")
    asked = ingress.manifest.dig(*path)
    if asked is None:
        path = ("metadata", "annotations", _ANNOTATION)
        asked = ingress.manifest.dig(*path)
    classes = known(case, "IngressClass")
    names = [one.ref.name for one in classes]
    if not isinstance(asked, str) or not asked or asked in names:
        return
    if not names and not _said_none(case):
        return
    near = [one for one in names if _is_alike(str(asked), one)] or names
    undone = case.last_change(ingress.ref, path, asked)
    new = near[0] if len(near) == 1 else None
    if undone and undone.field.before in names:
        new = str(undone.field.before)
    because = f"{new} is the class that there is." if new else "No class is surely meant."
    seen = tuple(i for one in classes for i in one.ids)
    yield _Wrong(
        path, asked, new, f"is of class {asked}, which does not exist", because, 0.95, seen
    )


def _said_none(case: Case) -> bool:
    return any(_NO_CLASS.search(one.data.text[:400]) for one in case.texts("get", "IngressClass"))


def _is_alike(one: str, other: str) -> bool:
    contains = one.startswith(other) or other.startswith(one)
    contains = contains or one.endswith(f"-{other}") or other.endswith(f"-{one}")
    return contains or SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _finding(case: Case, ingress: Known, wrong: _Wrong, cause: CauseClass) -> Finding:
    ours = case.named is None or case.named.namespace == ingress.ref.namespace
    change = valued(ingress.ref, wrong.path, wrong.old, wrong.new)
    return Finding(
        cause=cause,
        object=ingress.ref,
        confidence=wrong.sure if ours else round(wrong.sure - 0.2, 2),
        summary=f"{ingress.ref} {wrong.sentence}.",
        evidence=tuple(dict.fromkeys((*ingress.ids, *wrong.seen))),
        change=change if wrong.new is not None else None,
        because=wrong.because,
        further=wrong.further if wrong.new is not None else (),
    )
