"""Probes that fail, wherever that was said: also where no pod, or no workload, was seen."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.manifest import Container, Manifest, dig
from tocsin_contracts import FieldPath, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.statements import Told, told

_FAILED = re.compile(
    r"(?P<probe>Liveness|Readiness|Startup) probe (?:failed|errored)(?P<why>.*)", re.S
)
_HANDLERS = ("httpGet", "tcpSocket", "grpc", "exec")
_DEFAULTS = {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3}


@dataclass(frozen=True, slots=True)
class FailingProbe:
    """A probe of a workload that fails; without `container` nothing shows how it is declared."""

    field: str
    owner: ObjectRef
    told: tuple[Told, ...]
    container: Container | None
    manifest: Observation[Manifest] | None

    @property
    def word(self) -> str:
        """What the kubelet calls it."""
        return self.field.removesuffix("Probe")

    @property
    def is_declared(self) -> bool:
        """Whether it was seen at the object that people edit, and not only at a pod of that."""
        return self.manifest is not None and self.manifest.data.ref == self.owner

    @property
    def decides_life(self) -> bool:
        """Whether its failure kills the container, instead of taking traffic from it."""
        return self.field != "readinessProbe"

    @property
    def declared(self) -> Mapping[str, Any]:
        """The probe as it is declared; empty if that was not seen."""
        found = self.container.dig(self.field) if self.container else None
        return found if isinstance(found, Mapping) else {}

    @property
    def handler(self) -> str:
        """The field that says how it asks; maybe empty."""
        return next((name for name in _HANDLERS if name in self.declared), "")

    @property
    def asks(self) -> Mapping[str, Any]:
        """What it asks."""
        found = self.declared.get(self.handler)
        return found if isinstance(found, Mapping) else {}

    @property
    def asked_port(self) -> str:
        """The port that is asked, by number if that is known; maybe empty."""
        port = str(self.asks.get("port") or "")
        for declared in self.container.items("ports") if self.container else ():
            if port and declared.get("name") == port:
                return str(declared.get("containerPort"))
        return port

    @property
    def evidence(self) -> tuple[str, ...]:
        """The ids of what declares it and of what says that it fails."""
        own = (self.manifest.id,) if self.manifest else ()
        return tuple(dict.fromkeys((*own, *(one.id for one in self.told))))

    def path(self, *rest: str | int) -> FieldPath:
        """Return the path of a field of the probe."""
        return (*(self.container.path if self.container else ()), self.field, *rest)

    def seconds(self, field: str) -> int:
        """Return a time or a number of tries, the default of Kubernetes if it says none."""
        value = self.declared.get(field)
        return value if isinstance(value, int) else _DEFAULTS.get(field, 0)

    def saying(self, pattern: re.Pattern[str]) -> tuple[Told, ...]:
        """Return its failures whose reason matches."""
        return tuple(one for one in self.told if pattern.search(one.match["why"]))


def probes_failing(case: Case) -> tuple[FailingProbe, ...]:
    """Return the probes of every workload of which some pod says that they fail."""
    groups: dict[tuple[ObjectRef, str], list[Told]] = {}
    for one in told(case, _FAILED):
        field = f"{one.match['probe'].lower()}Probe"
        groups.setdefault((subject(case, one.about), field), []).append(one)
    return tuple(_failing(case, owner, field, said) for (owner, field), said in groups.items())


def _failing(case: Case, owner: ObjectRef, field: str, said: list[Told]) -> FailingProbe:
    manifest = design(case, owner)
    container = _probed(manifest, field)
    if container is None:
        own = (case.object(one.about) for one in said if one.about)
        manifest = next((pod for pod in own if _probed(pod, field)), manifest)
        container = _probed(manifest, field)
    return FailingProbe(field, owner, tuple(said), container, manifest)


def _probed(manifest: Observation[Manifest] | None, field: str) -> Container | None:
    """Return the only container that declares such a probe."""
    found = [c for c in manifest.data.containers() if dig(c.raw, field)] if manifest else []
    return found[0] if len(found) == 1 else None
