"""Values that pods are configured with: environment, and the ConfigMaps that they read."""

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Container, texts
from tocsin_contracts import FieldPath, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.known import Runs, known_object


@dataclass(frozen=True, slots=True)
class Configured:
    """A value, the object and field that hold it, and the pods that are given it."""

    name: str
    value: str
    object: ObjectRef
    path: FieldPath
    ids: tuple[str, ...]
    runs: Runs


def configured(case: Case, runs: Runs) -> Iterator[Configured]:
    """Yield the plain values that the containers of pods get, and those of their ConfigMaps."""
    for container in runs.known.manifest.containers():
        for raw in container.items("env"):
            name, value = str(raw.get("name")), raw.get("value")
            if value is not None:
                path = (*container.path, "env", f"[name={name}]", "value")
                yield Configured(name, str(value), runs.ref, path, runs.known.ids, runs)
    for name in dict.fromkeys(_maps(runs)):
        ref = ObjectRef(kind="ConfigMap", namespace=runs.ref.namespace, name=name)
        found = known_object(case, ref)
        for key, value in texts(found.manifest.dig("data")).items() if found else ():
            ids = (*found.ids, *runs.known.ids) if found else ()
            yield Configured(key, value, ref, ("data", key), ids, runs)


def _maps(runs: Runs) -> Iterator[str]:
    for container in runs.known.manifest.containers():
        yield from _from_env(container)
    spec = runs.known.manifest.template.get("spec") or {}
    for volume in spec.get("volumes") or ():
        name = (volume.get("configMap") or {}).get("name") if isinstance(volume, dict) else None
        if name:
            yield str(name)


def _from_env(container: Container) -> Iterator[str]:
    for raw in container.items("envFrom"):
        name = (raw.get("configMapRef") or {}).get("name")
        if name:
            yield str(name)
    for raw in container.items("env"):
        name = ((raw.get("valueFrom") or {}).get("configMapKeyRef") or {}).get("name")
        if name:
            yield str(name)
