"""Containers, probes and volumes as `kubectl describe` writes them, in the words of the API."""

import re
from collections.abc import Iterator
from typing import Any

from tocsin_cluster.reading.numbers import whole
from tocsin_cluster.reading.sections import NOTHING, Section, Sections, time

Raw = dict[str, Any]

_PROBES = {"Liveness": "livenessProbe", "Readiness": "readinessProbe", "Startup": "startupProbe"}
_TIMES = {
    "delay": "initialDelaySeconds",
    "timeout": "timeoutSeconds",
    "period": "periodSeconds",
    "#success": "successThreshold",
    "#failure": "failureThreshold",
}
_TIME = re.compile(r"(?P<name>#?\w{1,20})=(?P<number>\d{1,9})s?\b")
_HTTP = re.compile(r"http-get (?P<scheme>https?)://(?P<host>[^:/]*):(?P<port>[^/\s]*)(?P<path>\S*)")
_TCP = re.compile(r"tcp-socket (?P<host>[^:\s]*):(?P<port>\S+)")
_GRPC = re.compile(r"grpc (?P<host>[^:\s]*):(?P<port>\d{1,5})")
_EXEC = re.compile(r"exec \[(?P<command>.*)\]")
_FROM = re.compile(
    r"<set to the key '(?P<key>[^']*)' (?:in|of) (?P<what>secret|config map) '(?P<name>[^']*)'>"
)
_MOUNT = re.compile(r"(?P<path>\S+) from (?P<name>\S+) \((?P<how>[^)]*)\)")
_SOURCES = {
    "PersistentVolumeClaim": ("persistentVolumeClaim", "claimName", ("ClaimName",)),
    "ConfigMap": ("configMap", "name", ("Name",)),
    "Secret": ("secret", "secretName", ("SecretName",)),
    "EmptyDir": ("emptyDir", "medium", ("Medium",)),
    "HostPath": ("hostPath", "path", ("Path",)),
}


def containers(section: Section) -> list[Raw]:
    """Return the containers of a section as a pod template declares them."""
    return [container(one.key, one.inner()) for one in section.inner().all]


def container(name: str, said: Sections) -> Raw:
    """Return one container."""
    made: Raw = {"name": name}
    made |= _some("image", said.text("Image"))
    made |= _some("ports", list(_ports(said.text("Port", "Ports"))))
    made |= _some("command", _lines(said.get("Command")))
    made |= _some("args", _lines(said.get("Args")))
    limits, requests = (_quantities(said.get(key)) for key in ("Limits", "Requests"))
    made |= _some("resources", _some("limits", limits) | _some("requests", requests))
    for key, field in _PROBES.items():
        made |= _some(field, probe(said.text(key)))
    made |= _some("env", list(_environment(said.get("Environment"))))
    made |= _some("envFrom", list(_sources(said.get("Environment Variables from"))))
    return made | _some("volumeMounts", list(_mounts(said.get("Mounts"))))


def statuses(section: Section) -> list[Raw]:
    """Return how the containers of a pod's section fare; those that say no state are left out."""
    return [status(one.key, one.inner()) for one in section.inner().all if _is_told(one.inner())]


def volumes(section: Section) -> list[Raw]:
    """Return the volumes whose source is of a usual type."""
    return [_volume(one.key, one.inner()) for one in section.inner().all]


def probe(text: str) -> Raw:
    """Return a probe from one line, such as `tcp-socket :80 delay=0s`; empty if it is none."""
    asks: Raw = {}
    if found := _HTTP.match(text):
        path = found["path"] or "/"
        asks = {"httpGet": {"scheme": found["scheme"].upper(), "path": path} | _port(found["port"])}
    elif found := _TCP.match(text):
        asks = {"tcpSocket": _port(found["port"])}
    elif found := _GRPC.match(text):
        asks = {"grpc": _port(found["port"])}
    elif found := _EXEC.match(text):
        asks = {"exec": {"command": found["command"].split()}}
    if not asks:
        return {}
    times = {m["name"]: int(m["number"]) for m in _TIME.finditer(text)}
    return asks | {field: times[name] for name, field in _TIMES.items() if name in times}


def _some(key: str, value: Any) -> Raw:
    return {key: value} if value else {}


def _port(text: str) -> Raw:
    number = whole(text)
    return {"port": text if number is None else number}


def _ports(text: str) -> Iterator[Raw]:
    for word in text.split(","):
        number, _, protocol = word.strip().partition("/")
        port = whole(number)
        if port is not None:
            yield {"containerPort": port, "protocol": protocol or "TCP"}


def _lines(section: Section) -> list[str]:
    return [line.strip() for line in section.lines if line.strip()]


def _quantities(section: Section) -> dict[str, str]:
    return {one.key: one.value for one in section.inner().all if one.value not in NOTHING}


def _environment(section: Section) -> Iterator[Raw]:
    for one in section.inner().all:
        found = _FROM.match(one.value)
        if found:
            of = "secretKeyRef" if found["what"] == "secret" else "configMapKeyRef"
            ref = {"name": found["name"], "key": found["key"]}
            yield {"name": one.key, "valueFrom": {of: ref}}
        else:
            yield {"name": one.key, "value": one.value}


def _sources(section: Section) -> Iterator[Raw]:
    for line in section.values():
        name, kind, *_ = (*line.split(), "", "")
        refs = {"ConfigMap": "configMapRef", "Secret": "secretRef"}
        if kind in refs:
            yield {refs[kind]: {"name": name}}


def _mounts(section: Section) -> Iterator[Raw]:
    for line in section.values():
        if found := _MOUNT.match(line):
            made: Raw = {"name": found["name"], "mountPath": found["path"]}
            yield made | _some("readOnly", "ro" in found["how"].split(","))


def _volume(name: str, said: Sections) -> Raw:
    kind = said.text("Type").partition(" ")[0]
    if kind not in _SOURCES:
        return {"name": name}
    source, field, keys = _SOURCES[kind]
    return {"name": name, source: _some(field, said.text(*keys))}


def status(name: str, said: Sections) -> Raw:
    """Return how one container fares."""
    made: Raw = {
        "name": name,
        "ready": said.text("Ready") == "True",
        "restartCount": said.number("Restart Count") or 0,
        "state": _state(said.get("State")),
    }
    made |= _some("image", said.text("Image"))
    return made | _some("lastState", _state(said.get("Last State")))


def _state(section: Section) -> Raw:
    word, said = section.value.lower(), section.inner()
    if word not in ("waiting", "running", "terminated"):
        return {}
    code = said.number("Exit Code")
    times = {"startedAt": time(said.text("Started")), "finishedAt": time(said.text("Finished"))}
    inside: Raw = _some("reason", said.text("Reason")) | _some("message", said.text("Message"))
    inside |= {key: value for key, value in times.items() if value}
    return {word: inside | ({} if code is None else {"exitCode": code})}


def _is_told(said: Sections) -> bool:
    return said.has("State") or said.has("Last State")
