"""What analyzers look at most: a container in a pod, and a field that a commit changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.manifest import Container, Manifest, dig
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.ports import ChangedField, FieldHistory


@dataclass(frozen=True, slots=True)
class ContainerSighting:
    """One container of one pod: how it fares, what the pod runs, and what people declared.

    `declared` is None for a container that the workload does not know, such as a sidecar that an
    admission webhook added, or when the workload itself was not seen.
    """

    pod: Observation[Manifest]
    name: str
    status: Mapping[str, Any]
    runs: Mapping[str, Any]
    declared: Container | None

    @property
    def ready(self) -> bool:
        """Whether the container takes traffic."""
        return self.status.get("ready") is True

    @property
    def running(self) -> bool:
        """Whether the container runs at this moment."""
        return dig(self.status, "state", "running") is not None

    @property
    def endings(self) -> tuple[Mapping[str, Any], ...]:
        """How the container ended, the latest ending first."""
        found = (dig(self.status, state, "terminated") for state in ("state", "lastState"))
        return tuple(ending for ending in found if isinstance(ending, Mapping))


@dataclass(frozen=True, slots=True)
class Change:
    """A field that a commit changed, and the observation that shows it."""

    seen: Observation[FieldHistory]
    field: ChangedField

    @property
    def told(self) -> str:
        """The commit as a sentence names it."""
        return f"commit {self.seen.data.commit[:10]} ({self.seen.data.subject!r})"
