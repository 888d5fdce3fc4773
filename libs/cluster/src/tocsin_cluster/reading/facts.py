"""What pods refer to, from the sections of its description: Services, volumes, nodes."""

import re
from collections.abc import Iterable
from typing import Any

from tocsin_cluster.reading.numbers import whole
from tocsin_cluster.reading.sections import NOTHING, Sections, table
from tocsin_cluster.reading.workloads import conditions

Raw = dict[str, Any]

_MODES = {"RWO": "ReadWriteOnce", "ROX": "ReadOnlyMany", "RWX": "ReadWriteMany"}
_MODES |= {"RWOP": "ReadWriteOncePod"}
_TAINT = re.compile(r"(?P<key>[^=:]+)(?:=(?P<value>[^:]*))?:(?P<effect>\w+)")


def modes(text: str) -> list[str]:
    """Return access modes from their short names."""
    return [_MODES.get(word.strip(), word.strip()) for word in text.split(",") if word.strip()]


def taints(words: Iterable[str]) -> list[Raw]:
    """Return taints from words such as `dedicated=gpu:NoSchedule`."""
    found = (match.groupdict() for word in words if (match := _TAINT.match(word.strip())))
    return [{key: value for key, value in one.items() if value} for one in found]


def service(said: Sections) -> Raw:
    """Return the spec of a Service."""
    ports: list[Raw] = []
    for section in said.all:
        if section.key == "Port":
            *name, where = section.value.split() or [""]
            number, _, protocol = where.partition("/")
            called = {"name": name[0]} if name and name[0] != "<unset>" else {}
            ports.append({**called, "port": _number(number), "protocol": protocol or "TCP"})
        elif section.key == "TargetPort" and ports:
            ports[-1]["targetPort"] = _number(section.value.partition("/")[0])
    return {"spec": {"type": said.text("Type"), "selector": _selector(said), "ports": ports}}


def subsets(addresses: str) -> list[Raw]:
    """Return the subsets of Endpoints from `10.1.0.4:80,10.1.0.5:80 + 1 more...`."""
    words = (word.strip().partition(" ")[0] for word in addresses.split(","))
    found = [word.rpartition(":") for word in words if word not in NOTHING]
    if not found:
        return []
    numbers = {whole(port) for _, _, port in found}
    ports = sorted(number for number in numbers if number is not None)
    hosts = [{"ip": host or port} for host, _, port in found]
    return [{"addresses": hosts, "ports": [{"port": port} for port in ports]}]


def claim(said: Sections) -> Raw:
    """Return spec and status of a PersistentVolumeClaim."""
    spec: Raw = {"accessModes": modes(said.text("Access Modes"))}
    if storage_class := said.text("StorageClass"):
        spec["storageClassName"] = storage_class
    if volume_name := said.text("Volume"):
        spec["volumeName"] = volume_name
    status: Raw = {"phase": said.text("Status").partition(" ")[0]}
    if capacity := said.text("Capacity"):
        status["capacity"] = {"storage": capacity}
    return {"spec": spec, "status": status}


def volume(said: Sections) -> Raw:
    """Return spec and status of a PersistentVolume."""
    namespace, _, name = said.text("Claim").partition("/")
    spec: Raw = {
        "accessModes": modes(said.text("Access Modes")),
        "capacity": {"storage": said.text("Capacity")},
        "storageClassName": said.text("StorageClass"),
        "persistentVolumeReclaimPolicy": said.text("Reclaim Policy"),
    }
    if name:
        spec["claimRef"] = {"namespace": namespace, "name": name}
    return {"spec": spec, "status": {"phase": said.text("Status")}}


def autoscaler(said: Sections) -> Raw:
    """Return spec and status of a HorizontalPodAutoscaler."""
    kind, _, name = said.text("Reference").partition("/")
    spec: Raw = {"scaleTargetRef": {"kind": kind, "name": name}}
    least, most = said.number("Min replicas"), said.number("Max replicas")
    spec |= {"minReplicas": least} if least is not None else {}
    spec |= {"maxReplicas": most} if most is not None else {}
    status: Raw = {"conditions": conditions(said)}
    pods = next((one.value for one in said.all if one.key.endswith(" pods")), "")
    if found := re.match(r"(\d{1,9}) current / (\d{1,9}) desired", pods):
        status |= {"currentReplicas": int(found[1]), "desiredReplicas": int(found[2])}
    return {"spec": spec, "status": status}


def node(said: Sections) -> Raw:
    """Return spec and status of a Node."""
    spec: Raw = {"taints": taints(said.get("Taints").values())}
    if said.text("Unschedulable") == "true":
        spec["unschedulable"] = True
    sizes = {
        field: {one.key: one.value for one in said.get(key).inner().all}
        for key, field in (("Capacity", "capacity"), ("Allocatable", "allocatable"))
    }
    return {"spec": spec, "status": {"conditions": conditions(said), **sizes}}


def ingress(said: Sections) -> Raw:
    """Return the spec of an Ingress."""
    rules: list[Raw] = []
    for cells in table(said.get("Rules").lines):
        found = re.match(r"(?P<service>[\w.-]+):(?P<port>\w+)", cells[-1])
        if found is None:
            host = cells[0] if cells[0] != "*" else ""
            rules.append({"host": host, "http": {"paths": []}})
        elif rules and len(cells) > 1:
            backend = {"name": found["service"], "port": _port(found["port"])}
            rules[-1]["http"]["paths"].append({"path": cells[-2], "backend": {"service": backend}})
    spec: Raw = {"rules": rules}
    if named := said.text("Ingress Class"):
        spec["ingressClassName"] = named
    return {"spec": spec}


def budget(said: Sections) -> Raw:
    """Return spec and status of a PodDisruptionBudget."""
    spec = {
        field: _number(said.text(key))
        for key, field in (("Min available", "minAvailable"), ("Max unavailable", "maxUnavailable"))
        if said.text(key)
    }
    allowed = said.number("Allowed disruptions")
    return {"spec": spec, "status": {} if allowed is None else {"disruptionsAllowed": allowed}}


def quota(said: Sections) -> Raw:
    """Return the status of a ResourceQuota: what may be used and what is."""
    last = said.all[-1].lines if said.all else []
    rows = [cells for cells in table(last) if len(cells) == len(("resource", "used", "hard"))]
    used, hard = ({cells[0]: cells[at] for cells in rows} for at in (1, 2))
    return {"spec": {"hard": hard}, "status": {"used": used, "hard": hard}}


def _number(text: str) -> int | str:
    number = whole(text)
    return text if number is None else number


def _port(text: str) -> Raw:
    number = whole(text)
    return {"name": text} if number is None else {"number": number}


def _selector(said: Sections) -> dict[str, str]:
    pairs = (word.partition("=") for word in said.text("Selector").split(","))
    return {key: value for key, equals, value in pairs if equals}
