"""Services whose ports lead where no container of their pods listens, or speak another protocol."""

from dataclasses import dataclass
from typing import Any

from tocsin_cluster.manifest import texts
from tocsin_contracts import CauseClass, FieldPath, Finding, Scalar
from tocsin_rca.evidence.calls import failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hosts import means
from tocsin_rca.evidence.known import Known, Runs, known, running
from tocsin_rca.evidence.listening import ports_heard
from tocsin_rca.evidence.remedy import valued
from tocsin_rca.evidence.selectors import is_named_for, selects
from tocsin_rca.evidence.sightings import Change


@dataclass(frozen=True, slots=True)
class _Listens:
    """A port of a container as it is declared."""

    number: int
    name: str
    protocol: str

    def is_meant_by(self, target: Scalar) -> bool:
        return str(target) in (str(self.number), self.name or str(self.number))


@dataclass(frozen=True, slots=True)
class _Lead:
    """One port of a Service, and what the pods behind it declare."""

    case: Case
    service: Known
    runs: Runs
    position: int
    port: dict[str, Any]
    offered: tuple[_Listens, ...]

    @property
    def target(self) -> Scalar:
        found = self.port.get("targetPort", self.port.get("port"))
        return found if isinstance(found, int | str) else None

    @property
    def protocol(self) -> str:
        return str(self.port.get("protocol") or "TCP")

    def path(self, field: str) -> FieldPath:
        name = self.port.get("name")
        step: str | int = f"[name={name}]" if name and self._are_named else self.position
        return ("spec", "ports", step, field)

    @property
    def _are_named(self) -> bool:
        """Whether people name the ports, where they write them: a description names all."""
        written = self.case.declaration(self.service.ref)
        manifest = written.data.manifest if written else self.service.manifest
        return all(port.get("name") for port in manifest.items("spec", "ports"))


class ServicePort:
    """No container behind the Service declares its target port, or not with that protocol."""

    name = "service_port"
    needs = "The Services, and the ports that the one workload behind each of them declares."
    proof = "No container behind the Service declares its target port, or none with its protocol."
    against = (
        "A log says that the program listens there, ready pods are probed there, or several "
        "workloads are behind it."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such port."""
        found = (_finding(lead) for lead in _leads(case))
        return tuple(one for one in found if one is not None)


def _leads(case: Case) -> list[_Lead]:
    found: list[_Lead] = []
    for service in known(case, "Service"):
        selector = texts(service.manifest.dig("spec", "selector"))
        behind = [r for r in running(case, service.ref.namespace) if selects(selector, r.labels)]
        if len(behind) != 1 or service.manifest.dig("spec", "type") == "ExternalName":
            continue
        offered = _offered(behind[0])
        for position, port in enumerate(service.manifest.items("spec", "ports")):
            if offered and ("targetPort" in port or service.manifest.whole):
                found.append(_Lead(case, service, behind[0], position, dict(port), offered))
    return found


def _offered(runs: Runs) -> tuple[_Listens, ...]:
    return tuple(
        _Listens(number, str(raw.get("name") or ""), str(raw.get("protocol") or "TCP"))
        for container in runs.containers
        for raw in container.items("ports")
        if isinstance(number := raw.get("containerPort"), int)
    )


def _finding(lead: _Lead) -> Finding | None:
    meant = [one for one in lead.offered if one.is_meant_by(lead.target)]
    if not meant:
        return _wrong_target(lead)
    if all(one.protocol != lead.protocol for one in meant):
        return _wrong_protocol(lead, meant[0])
    return None


def _wrong_protocol(lead: _Lead, meant: _Listens) -> Finding:
    path = lead.path("protocol")
    return Finding(
        cause=CauseClass.SERVICE_PROTOCOL_MISMATCH,
        object=lead.service.ref,
        confidence=0.95 if _is_concerned(lead) else 0.75,
        summary=f"{lead.service.ref} forwards {lead.protocol} to port {meant.number}, where"
        f" {lead.runs.ref} listens for {meant.protocol}.",
        evidence=_ids(lead),
        change=valued(lead.service.ref, path, lead.port.get("protocol"), meant.protocol),
        because=f"The container declares port {meant.number} as {meant.protocol}.",
    )


def _wrong_target(lead: _Lead) -> Finding | None:
    heard = ports_heard(lead.case, lead.runs.ref.name)
    if lead.target in heard or _is_probed(lead):
        return None
    undone = _undone(lead)
    right, because = _right(lead, undone, heard)
    named = not str(lead.target).isdigit()
    sure = 0.95 if undone or (_is_concerned(lead) and right) else 0.85 if named else 0.75
    ports = " and ".join(str(one.number) for one in lead.offered)
    path, old = lead.path("targetPort"), lead.port.get("targetPort")
    return Finding(
        cause=CauseClass.SERVICE_TARGET_PORT_MISMATCH,
        object=lead.service.ref,
        confidence=sure,
        summary=f"{lead.service.ref} leads to port {lead.target} of {lead.runs.ref}, which declares"
        f" {ports} only.",
        evidence=_ids(lead, *([undone.seen.id] if undone else [])),
        change=valued(lead.service.ref, path, old, right),
        because=because,
    )


def _undone(lead: _Lead) -> Change | None:
    """The commit that took the port away from one on which a container listens."""
    for path in (lead.path("targetPort"), ("spec", "ports", lead.position, "targetPort")):
        change = lead.case.last_change(lead.service.ref, path, lead.port.get("targetPort"))
        if change and any(one.is_meant_by(change.field.before) for one in lead.offered):
            return change
    return None


def _right(lead: _Lead, undone: Change | None, heard: dict[int, str]) -> tuple[Scalar, str]:
    if undone:
        told = f"{undone.told} changed it from {undone.field.before}; this undoes that."
        return undone.field.before, told
    fits = [one for one in lead.offered if one.protocol == lead.protocol]
    called = [one for one in fits if one.name and one.name == lead.port.get("name")]
    spoken = [one for one in fits if one.number in heard]
    for chosen, because in (
        (fits, "It is the only port that the pods declare."),
        (called, "The container's port of that name is this one."),
        (spoken, "The log says that the program listens there."),
    ):
        if len({one.number for one in chosen}) == 1:
            return chosen[0].number, because
    return None, "The pods declare several ports; none is surely meant."


def _is_probed(lead: _Lead) -> bool:
    """Whether a probe of the pods, which are ready, asks the same port."""
    pods = [p for p in lead.case.pods if lead.runs.ref == lead.case.workload]
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for pod in pods
        for condition in pod.data.items("status", "conditions")
    )
    asked = {
        container.dig("readinessProbe", handler, "port")
        for container in lead.runs.containers
        for handler in ("httpGet", "tcpSocket", "grpc")
    }
    return ready and lead.target in asked


def _is_concerned(lead: _Lead) -> bool:
    """Whether the alert is about the Service, or a call to it is seen to fail."""
    case, ref = lead.case, lead.service.ref
    if ref == case.named or is_named_for(ref.name, case.workload.name if case.workload else ""):
        return True
    if lead.runs.ref == case.workload:
        return True
    return any(call.place and means(call.place, ref, ref.namespace) for call in failed_calls(case))


def _ids(lead: _Lead, *others: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*lead.service.ids, *lead.runs.known.ids, *others)))
