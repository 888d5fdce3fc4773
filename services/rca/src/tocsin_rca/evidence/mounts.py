"""Which ConfigMap or Secret a file of a container comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.manifest import Manifest, dig

_VOLUMES = {"configMap": ("ConfigMap", "name"), "secret": ("Secret", "secretName")}


@dataclass(frozen=True, slots=True)
class MountedFile:
    """The key that a file is to be made from."""

    kind: str
    name: str
    key: str


def mounted_file(workload: Manifest, path: str) -> MountedFile | None:
    """Return what a file below a mount of a ConfigMap or Secret is made from; None elsewhere."""
    volumes = {str(one.get("name")): one for one in _volumes(workload)}
    for container in workload.containers():
        for mount in container.items("volumeMounts"):
            volume = volumes.get(str(mount.get("name")), {})
            if found := _file(volume, mount, path):
                return found
    return None


def _volumes(workload: Manifest) -> Iterator[Mapping[str, Any]]:
    found = dig(workload.template, "spec", "volumes")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, Mapping):
            yield one


def _file(volume: Mapping[str, Any], mount: Mapping[str, Any], path: str) -> MountedFile | None:
    at = str(mount.get("mountPath") or "").rstrip("/")
    inside = path.removeprefix(f"{at}/")
    for field, (kind, name) in _VOLUMES.items():
        source = volume.get(field)
        if not isinstance(source, Mapping) or not at:
            continue
        if mount.get("subPath") and path == at:
            return MountedFile(kind, str(source.get(name)), str(mount["subPath"]))
        if inside != path and "/" not in inside and not mount.get("subPath"):
            return MountedFile(kind, str(source.get(name)), _key(source, inside))
    return None


def _key(source: Mapping[str, Any], file: str) -> str:
    items = source.get("items")
    named = {dig(one, "path"): dig(one, "key") for one in items} if isinstance(items, list) else {}
    return str(named.get(file) or file)
