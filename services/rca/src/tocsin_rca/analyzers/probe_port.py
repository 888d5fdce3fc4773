"""Probes that ask a port where nobody listens, while the container declares another one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.events import ClusterEvent
from tocsin_contracts import CauseClass, FieldChange, Finding, Scalar
from tocsin_rca.evidence.alerted import alert_text
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.container_ports import Port, declared_ports
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.probes import Probe, ProbeSighting, failing_probes, sibling

_CAUSES = {
    Probe.LIVENESS: CauseClass.LIVENESS_PROBE_WRONG_PORT,
    Probe.READINESS: CauseClass.READINESS_PROBE_WRONG_PORT,
}
_RESTARTS = re.compile(r"(?i)crash|restart|killed")
_ENDED_BY_SIGNAL = (0, 137, 143)
_LISTENS = re.compile(r"(?i)\blisten\w{0,20}\b")
_LINE = 2000


@dataclass(frozen=True, slots=True)
class _RightPort:
    """The port the probe should ask, if anything tells; and how sure that makes it."""

    port: Scalar
    because: str
    confidence: float
    seen: tuple[str, ...] = ()


class ProbePort:
    """The probe is refused on a port that no container of the pod declares."""

    name = "probe_port"
    needs = (
        "The events of the failing probe, how it is declared, and the ports that containers "
        "declare."
    )
    proof = (
        "The probe is refused at a port that no container of the pod declares, while its own "
        "declares another."
    )
    against = (
        "The log says that it listens there, the container ends by itself, or the probe asks "
        "another host or an older port."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such probe; without one sure port there is no change."""
        found = [f for failing in failing_probes(case) if (f := _finding(case, failing))]
        both = {one.cause for one in found} == set(_CAUSES.values())
        restarts = _RESTARTS.search(alert_text(case)) is not None
        return tuple(one if not both or restarts else _behind(one) for one in found)


def _behind(one: Finding) -> Finding:
    """Where both ask in vain and nobody tells of restarts, it is readiness that is missed."""
    if one.cause is not CauseClass.LIVENESS_PROBE_WRONG_PORT:
        return one
    return one.model_copy(update={"confidence": round(one.confidence - 0.01, 2)})


def _finding(case: Case, failing: ProbeSighting) -> Finding | None:
    asked, proof = failing.asks.get("port"), _refusals(failing)
    ports = declared_ports([failing.container])
    if not (proof and ports) or _is_declared(case, failing):
        return None
    workload = case.workload or failing.sighting.pod.data.ref
    right = _right_port(case, failing, ports)
    doubts = tuple(_doubts(case, failing))
    change = FieldChange(object=workload, path=failing.path("port"), old=asked, new=right.port)
    return Finding(
        cause=_CAUSES[failing.probe],
        object=workload,
        confidence=weighed(right.confidence, doubts),
        summary=f"The {failing.probe.word} probe of container {failing.container.name} in"
        f" {workload} asks port {asked}, where nothing listens; the container declares"
        f" {' and '.join(str(port) for port in ports)}.",
        evidence=failing.proven_by(case, *(event.id for event in proof), *right.seen),
        change=change if right.port is not None else None,
        because=explained(right.because, doubts),
    )


def _refusals(failing: ProbeSighting) -> tuple[Observation[ClusterEvent], ...]:
    asked = failing.asks.get("port")
    if asked is None or failing.asks.get("host") or not failing.is_current("port"):
        return ()
    refused = failing.saying(f":{asked}: connect: connection refused")
    unreached = failing.saying("failed to connect service", f':{asked}"')
    return refused or unreached or failing.saying("errored", f'"{asked}"')


def _is_declared(case: Case, failing: ProbeSighting) -> bool:
    workload = case.workload_manifest
    containers = workload.data.containers() if workload else (failing.container,)
    asked = failing.asks.get("port")
    return any(port.is_meant_by(asked) for port in declared_ports(containers))


def _right_port(case: Case, failing: ProbeSighting, ports: tuple[Port, ...]) -> _RightPort:
    asked, other, workload = failing.asks.get("port"), sibling(case, failing), case.workload
    change = case.last_change(workload, failing.path("port"), asked) if workload else None
    if change and any(port.is_meant_by(change.field.before) for port in ports):
        because = f"{change.told} changed it from {change.field.before}; this undoes that."
        return _RightPort(change.field.before, because, 0.97, (change.seen.id,))
    shared = other.asks.get("port") if other else None
    if other and any(port.is_meant_by(shared) for port in ports):
        because = f"The {other.probe.word} probe passes on port {shared}."
        return _RightPort(shared, because, 0.95)
    if len(ports) == 1:
        because = f"{ports[0]} is the only port that the container declares."
        return _RightPort(ports[0].written_like(asked), because, 0.92)
    return _RightPort(None, "The container declares several ports; none is surely meant.", 0.7)


def _doubts(case: Case, failing: ProbeSighting) -> Iterator[Doubt]:
    sighting = failing.sighting
    codes = [ending.get("exitCode") for ending in sighting.endings]
    killed = any(
        e.data.reason == "Killing" and "liveness" in e.data.message
        for e in case.events(sighting.pod.data.ref)
    )
    if not killed and any(code not in _ENDED_BY_SIGNAL for code in codes):
        yield Doubt(f"the container also ends by itself with exit code {codes[0]}", 0.35)
    logs = (log.data.text for log in case.logs if log.data.container == sighting.name)
    if any(_says_it_listens(log, str(failing.asks.get("port"))) for log in logs):
        yield Doubt("its log says that it listens there", 0.5)


def _says_it_listens(log: str, port: str) -> bool:
    """Whether the head of a line says `listen` and the port after it; each is sought just once."""
    asked = re.compile(rf"(?i)\b{re.escape(port)}\b")
    heads = (line[:_LINE] for line in log.splitlines())
    return any((said := _LISTENS.search(head)) and asked.search(head, said.end()) for head in heads)
