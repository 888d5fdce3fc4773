"""Probes that are refused at a port, while a log, a Service or the other probe tells another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import dig, texts
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import sure
from tocsin_rca.evidence.container_ports import declared_ports
from tocsin_rca.evidence.probing import FailingProbe, probes_failing
from tocsin_rca.evidence.selectors import selects

_REFUSED = re.compile(r"(?i)connection refused|failed to connect service|connectex")
_LISTENS = re.compile(
    r"(?i)\b(?:listen\w{0,8}|serving|running|started?|bound"
    r"|accept\w{0,8} connections)\b[^\n]{0,80}?"
    r"(?:[:\s]port[\s=:]{1,3}|\(s\):? |[\w\].*\s]:|tcp[\s:/]{1,3}"
    r"|\son )(?P<port>\d{2,5})\b(?![.:/]\d)"
)
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

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each probe that asks another port than the one that is shown."""
        found = (_finding(case, failing) for failing in probes_failing(case))
        return tuple(finding for finding in found if finding)


def _finding(case: Case, failing: FailingProbe) -> Finding | None:
    asked = failing.asked_port or _said_port(failing)
    if not asked or not failing.saying(_REFUSED) or _is_for_declared(failing, asked):
        return None
    right = next((one for one in _shown(case, failing) if one.port != asked), None)
    if right is None or asked in dict(_heard(case)):
        return None
    cause = (
        CauseClass.LIVENESS_PROBE_WRONG_PORT
        if failing.decides_life
        else CauseClass.READINESS_PROBE_WRONG_PORT
    )
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
    if not isinstance(old, int):
        return None
    path = failing.path(failing.handler, "port")
    return FieldChange(object=failing.owner, path=path, old=old, new=int(port))


def _said_port(failing: FailingProbe) -> str:
    found = re.search(r":(\d{2,5}): (?:connect|connectex)", failing.told[0].match["why"])
    return found[1] if found else ""


def _is_for_declared(failing: FailingProbe, asked: str) -> bool:
    """Whether the container declares ports, and not the asked one: that is told by them."""
    ports = declared_ports([failing.container]) if failing.container else ()
    return bool(ports) and not any(port.is_meant_by(asked) for port in ports)


def _shown(case: Case, failing: FailingProbe) -> Iterator[_Shown]:
    for port, seen in _heard(case):
        yield _Shown(port, "its log says that it listens on", 0.93, (seen,))
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
    for handler in ("httpGet", "tcpSocket", "grpc"):
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
