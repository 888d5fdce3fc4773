"""One Kubernetes object as the API shows it, with the few ways that everybody reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_contracts import FieldPath, ObjectRef

POD_TEMPLATE: dict[str, FieldPath] = {
    "Pod": (),
    "Deployment": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Rollout": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
"""Where each kind keeps its pod template; a pod is its own."""


@dataclass(frozen=True, slots=True)
class Container:
    """A container as its pod template declares it, and where in the object it stands."""

    name: str
    path: FieldPath
    raw: Mapping[str, Any]

    def dig(self, *path: str | int) -> Any:
        """Return what lies at a path of keys and indices, or None."""
        return dig(self.raw, *path)

    def items(self, *path: str | int) -> tuple[Mapping[str, Any], ...]:
        """Return the objects of the list at a path; no list means none."""
        return _items(dig(self.raw, *path))


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller that an object names as its owner."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object of the cluster; whoever holds it must not change `raw`.

    `whole` is False for one that was read from a table or a description: what it does not hold
    may be there all the same.
    """

    raw: Mapping[str, Any]
    whole: bool = True

    @property
    def ref(self) -> ObjectRef:
        """Which object this is."""
        return ObjectRef(
            kind=str(self.raw.get("kind") or ""),
            namespace=str(self.dig("metadata", "namespace") or ""),
            name=str(self.dig("metadata", "name") or ""),
        )

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the object itself."""
        return texts(self.dig("metadata", "labels"))

    @property
    def template(self) -> Mapping[str, Any]:
        """The pod template, the object itself for a pod, empty for a kind without pods."""
        path = POD_TEMPLATE.get(self.ref.kind)
        found = None if path is None else dig(self.raw, *path)
        return found if isinstance(found, Mapping) else {}

    @property
    def owner(self) -> Owner | None:
        """The controlling owner, or the only owner when none says that it controls."""
        owners = self.items("metadata", "ownerReferences")
        controlling = tuple(item for item in owners if item.get("controller") is True)
        chosen = controlling or owners
        if len(chosen) != 1:
            return None
        return Owner(kind=str(chosen[0].get("kind")), name=str(chosen[0].get("name")))

    def containers(self) -> tuple[Container, ...]:
        """Return the containers and init containers of the pod template."""
        base = (*POD_TEMPLATE.get(self.ref.kind, ()), "spec")
        return tuple(
            Container(str(raw["name"]), (*base, section, f"[name={raw['name']}]"), raw)
            for section in ("containers", "initContainers")
            for raw in _items(dig(self.template, "spec", section))
            if raw.get("name")
        )

    def container(self, name: str) -> Container | None:
        """Return the container of that name, or None."""
        return next((c for c in self.containers() if c.name == name), None)

    def dig(self, *path: str | int) -> Any:
        """Return what lies at a path of keys and indices, or None."""
        return dig(self.raw, *path)

    def items(self, *path: str | int) -> tuple[Mapping[str, Any], ...]:
        """Return the objects of the list at a path; no list means none."""
        return _items(self.dig(*path))


def dig(data: Any, *path: str | int) -> Any:
    """Return what lies at a path of keys and indices, or None when a step leads nowhere."""
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and -len(data) <= step < len(data):
            data = data[step]
        else:
            return None
    return data


def texts(data: Any) -> dict[str, str]:
    """Return a mapping such as labels with keys and values as text; anything else is empty."""
    if not isinstance(data, Mapping):
        return {}
    return {str(key): str(value) for key, value in data.items()}


def _items(data: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(i for i in data if isinstance(i, Mapping)) if isinstance(data, list) else ()
