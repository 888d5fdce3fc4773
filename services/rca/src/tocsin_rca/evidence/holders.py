"""Where a value is configured: environment, arguments and ConfigMaps of a workload."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.manifest import Container, Manifest
from tocsin_contracts import FieldPath, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.observation import Observation

_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Holder:
    """A field that holds a text, and the name that people know it by."""

    id: str
    object: ObjectRef
    path: FieldPath
    name: str
    value: str


def holders(case: Case, value: str) -> tuple[Holder, ...]:
    """Return the fields that hold a value as a word of its own, those of the workload first."""
    word = re.compile(rf"(?<![\w.-]){re.escape(value)}(?![\w-])")
    return tuple(one for one in configured(case) if word.search(one.value[:_LONGEST]))


def configured(case: Case) -> Iterator[Holder]:
    """Yield all that is configured: of the workload, of ConfigMaps, then of other workloads."""
    own = design(case)
    if own:
        yield from _of_workload(own)
    for seen in case.manifests("ConfigMap"):
        for key, text in _entries(seen.data.dig("data")):
            yield Holder(seen.id, seen.data.ref, ("data", key), key, text)
    for kind in ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod"):
        for seen in case.manifests(kind):
            if seen.data.ref != case.workload and not seen.data.owner:
                yield from _of_workload(seen)


def _of_workload(seen: Observation[Manifest]) -> Iterator[Holder]:
    for container in seen.data.containers():
        for name, path, value in _settings(container):
            yield Holder(seen.id, seen.data.ref, path, name, value)


def _settings(container: Container) -> Iterator[tuple[str, FieldPath, str]]:
    for one in container.items("env"):
        if one.get("value") is not None:
            name = str(one.get("name"))
            yield name, (*container.path, "env", f"[name={name}]", "value"), str(one["value"])
    for field in ("command", "args"):
        words = container.dig(field)
        for at, word in enumerate(words if isinstance(words, list) else ()):
            yield field, (*container.path, field, at), str(word)


def _entries(data: Any) -> Iterator[tuple[str, str]]:
    for key, text in data.items() if isinstance(data, dict) else ():
        if isinstance(text, str):
            yield str(key), text
