"""Probes that are refused at a port, while a log, a Service or the other probe tells another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import dig, texts
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import sure
from tocsin_rca.evidence.container_ports import Port, declared_ports
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.probes import failing_probes
from tocsin_rca.evidence.probing import FailingProbe, probes_failing
from tocsin_rca.evidence.selectors import selects
from tocsin_rca.evidence.sightings import ContainerSighting

_REFUSED = re.compile(r"(?i)connection refused|failed to connect service|connectex")
_LISTENS = re.compile(
    r"(?i)\b(?:listen\w{0,8}|serving|running|started?|bound"
    r"|accept\w{0,8} connections)\b[^\n]{0,80}?"
    r"(?:[:\s]port[\s=:]{1,3}|\(s\):? |[\w\].*\s]:|tcp[\s:/]{1,3}"
    r"|\son )(?P<port>\d{2,5})\b(?![.:/]\d)"
)
_CAUSES = {
    "livenessProbe": CauseClass.LIVENESS_PROBE_WRONG_PORT,
    "readinessProbe": CauseClass.READINESS_PROBE_WRONG_PORT,
}
_HANDLERS = ("httpGet", "tcpSocket", "grpc")
_LONGEST = 32_000
_SURE = 0.9
_USUAL = {
    **{"nginx": "80", "httpd": "80", "redis": "6379", "valkey": "6379", "postgres": "5432"},
    **{
        "mysql": "3306",
        "mariadb": "3306",
        "mongo": "27017",
        "rabbitmq": "5672",
        "memcached": "11211",
    },
}
"""The port on which a well-known image listens when nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A port on which the program listens, what shows that, and how sure it is."""

    port: str
    why: str
    confidence: float
    seen: tuple[str, ...] = ()


class ProbeListening:
    """The asked port is declared, or no port is; something else shows where the program listens."""

    name = "probe_listening"
    needs = (
        "The failing probe and how it is declared; a log, a Service, the other probe or the image "
        "that tells a port."
    )
    proof = (
        "The probe is refused at its port, and something shows another; or without a word a pod "
        "is not ready and a probe asks an undeclared port."
    )
    against = (
        "The log says that the program listens on the asked port; only the image or a Service "
        "hints at another one."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each probe that asks another port than the one that is shown."""
        failing = probes_failing(case)
        found = (_finding(case, one) for one in failing)
        return tuple(one for one in found if one) or (() if failing else tuple(_unsaid(case)))


def _unsaid(case: Case) -> Iterator[Finding]:
    """A pod is not ready, nothing says why, and a probe asks a port that is not declared."""
    workload = design(case)
    if workload is None or not any(_is_unready(one) for one in case.containers):
        return
    for container in workload.data.containers():
        ports = declared_ports([container])
        for field, cause in _CAUSES.items():
            asks = (dig(container.raw, field, handler, "port") for handler in _HANDLERS)
            asked = next((port for port in asks if port is not None), None)
            if ports and asked is not None and not any(port.is_meant_by(asked) for port in ports):
                yield Finding(
                    cause=cause,
                    object=workload.data.ref,
                    confidence=0.66,
                    summary=f"The {field} of {workload.data.ref} asks port {asked}, which"
                    f" container {container.name} does not declare.",
                    evidence=(workload.id,),
                )
                return


def _is_unready(one: ContainerSighting) -> bool:
    return not one.ready and (one.running or bool(one.endings))


def _finding(case: Case, failing: FailingProbe) -> Finding | None:
    asked = failing.asked_port or _said_port(failing)
    if not asked or not failing.saying(_REFUSED) or _is_for_declared(case, failing, asked):
        return None
    right = next((one for one in _shown(case, failing) if one.port != asked), None)
    if right is None or asked in dict(_heard(case)):
        return None
    cause = _CAUSES["livenessProbe" if failing.decides_life else "readinessProbe"]
    return Finding(
        cause=cause,
        object=failing.owner,
        confidence=sure(case, failing.told[0].about, right.confidence),
        summary=f"The {failing.word} probe of {failing.owner} asks port {asked}, where nothing"
        f" listens; {right.why} {right.port}.",
        evidence=tuple(dict.fromkeys((*failing.evidence, *right.seen))),
        change=_change(failing, right.port) if right.confidence >= _SURE else None,
        because=f"{right.why} {right.port}." if failing.asks else "",
    )


def _change(failing: FailingProbe, port: str) -> FieldChange | None:
    old = failing.asks.get("port")
    if not isinstance(old, int) or not failing.is_declared:
        return None
    path = failing.path(failing.handler, "port")
    return FieldChange(object=failing.owner, path=path, old=old, new=int(port))


def _said_port(failing: FailingProbe) -> str:
    found = re.search(r":(\d{2,5}): (?:connect|connectex)", failing.told[0].match["why"])
    return found[1] if found else ""


def _is_for_declared(case: Case, failing: FailingProbe, asked: str) -> bool:
    """Whether the workload declares ports, and not the asked one: they tell of it elsewhere."""
    return bool(failing_probes(case)) and bool(_declared_instead(failing, asked))


def _declared_instead(failing: FailingProbe, asked: str) -> tuple[Port, ...]:
    ports = declared_ports([failing.container]) if failing.container else ()
    return () if any(port.is_meant_by(asked) for port in ports) else ports


def _shown(case: Case, failing: FailingProbe) -> Iterator[_Shown]:
    for port, seen in _heard(case):
        yield _Shown(port, "its log says that it listens on", 0.93, (seen,))
    declared = _declared_instead(failing, failing.asked_port)
    if len(declared) == 1:
        yield _Shown(str(declared[0].number), "its container declares", 0.92)
    yield from _by_sibling(case, failing)
    yield from _by_service(case, failing)
    image = str(failing.container.raw.get("image") or "") if failing.container else ""
    if usual := _USUAL.get(image.rpartition("/")[2].partition(":")[0]):
        yield _Shown(usual, f"{image} usually listens on", 0.85)


def _by_sibling(case: Case, failing: FailingProbe) -> Iterator[_Shown]:
    other = "livenessProbe" if failing.field == "readinessProbe" else "readinessProbe"
    sibling = failing.container.dig(other) if failing.container else None
    failed = {(one.owner, one.field) for one in probes_failing(case)}
    if not isinstance(sibling, dict) or (failing.owner, other) in failed:
        return
    for handler in _HANDLERS:
        port = dig(sibling, handler, "port")
        if isinstance(port, int):
            yield _Shown(str(port), "its other probe does not fail on", 0.91)


def _by_service(case: Case, failing: FailingProbe) -> Iterator[_Shown]:
    template = failing.manifest.data.template if failing.manifest else {}
    labels = texts(dig(template, "metadata", "labels"))
    for service in case.manifests("Service"):
        target = service.data.dig("spec", "ports", 0, "targetPort")
        wanted = texts(service.data.dig("spec", "selector"))
        if isinstance(target, int) and selects(wanted, labels):
            yield _Shown(str(target), f"{service.data.ref} leads to", 0.85, (service.id,))


def _heard(case: Case) -> list[tuple[str, str]]:
    return [
        (match["port"], log.id)
        for log in case.logs
        for match in _LISTENS.finditer(log.data.text[-_LONGEST:])
    ]
