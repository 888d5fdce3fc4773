"""Where a workload refers to ConfigMaps and Secrets, and to which keys of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tocsin_cluster.manifest import POD_TEMPLATE, Container, Manifest, dig
from tocsin_contracts import FieldPath

_REFS = {"configMapKeyRef": "ConfigMap", "secretKeyRef": "Secret"}
_SOURCES = {"configMapRef": "ConfigMap", "secretRef": "Secret"}
_VOLUMES = {"configMap": ("ConfigMap", "name"), "secret": ("Secret", "secretName")}


@dataclass(frozen=True, slots=True)
class Reference:
    """One place that names a ConfigMap or Secret; a key and its path are empty for all keys."""

    kind: str
    name: str
    path: FieldPath
    optional: bool = False
    key: str = ""
    key_path: FieldPath = ()


def references(workload: Manifest) -> tuple[Reference, ...]:
    """Return every place of a pod template that names a ConfigMap or Secret."""
    found = [one for c in workload.containers() for one in _of_container(c)]
    return (*found, *_of_volumes(workload))


def _of_container(container: Container) -> Iterator[Reference]:
    for env in container.items("env"):
        for field, kind in _REFS.items():
            ref = dig(env, "valueFrom", field)
            if isinstance(ref, Mapping):
                at = (*container.path, "env", f"[name={env.get('name')}]", "valueFrom", field)
                key = str(ref.get("key") or "")
                yield replace(_reference(kind, ref, at, "name"), key=key, key_path=(*at, "key"))
    for index, source in enumerate(container.items("envFrom")):
        for field, kind in _SOURCES.items():
            ref = source.get(field)
            if isinstance(ref, Mapping):
                yield _reference(kind, ref, (*container.path, "envFrom", index, field), "name")


def _of_volumes(workload: Manifest) -> Iterator[Reference]:
    base = (*POD_TEMPLATE.get(workload.ref.kind, ()), "spec", "volumes")
    volumes = dig(workload.template, "spec", "volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        for field, (kind, name) in _VOLUMES.items():
            ref = dig(volume, field)
            if isinstance(ref, Mapping) and ref.get(name):
                at = (*base, f"[name={volume.get('name')}]", field)
                whole = _reference(kind, ref, at, name)
                yield from tuple(_of_items(whole, ref.get("items"), at)) or (whole,)


def _of_items(whole: Reference, items: Any, at: FieldPath) -> Iterator[Reference]:
    for index, item in enumerate(items if isinstance(items, list) else ()):
        yield replace(whole, key=str(dig(item, "key") or ""), key_path=(*at, "items", index, "key"))


def _reference(kind: str, ref: Mapping[str, Any], at: FieldPath, field: str) -> Reference:
    return Reference(kind, str(ref.get(field) or ""), (*at, field), ref.get("optional") is True)
