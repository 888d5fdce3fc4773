"""What may be asked of a cluster; nothing here can change one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.printed import Printed
from tocsin_contracts import ObjectRef

EVERYWHERE = "*"
"""In place of a namespace where lists, events and usage of all of them are asked for."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a pod, one container of it, or a node takes: CPU in cores, memory in bytes.

    None is what was not measured; the container is empty for the whole. The shares are of what a
    node can give, between 0 and 1, and only known for nodes.
    """

    about: ObjectRef
    container: str = ""
    cpu: float | None = None
    memory: float | None = None
    cpu_share: float | None = None
    memory_share: float | None = None


class Cluster(Protocol):
    """A read-only view. Every question may raise ClusterError.

    Of a Secret only its name, its type and its keys are ever returned, never a value.
    """

    @property
    def source(self) -> str:
        """Who answers, as evidence names it."""

    @property
    def recorded_at(self) -> datetime | None:
        """When what it answers was true; None for a cluster that answers about this moment."""

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one object, or None when the cluster says that it does not exist."""

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind in a namespace that carry all of the labels."""

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Return what was reported about an object, the oldest first."""

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Return the log of a container or of the one before it; None when none is kept."""

    async def events_in(self, namespace: str) -> tuple[ClusterEvent, ...]:
        """Return what was reported about the objects of a namespace, the oldest first.

        The empty namespace is that of the objects which are in none, such as nodes.
        """

    async def usage(self, namespace: str) -> tuple[Usage, ...]:
        """Return what pods of a namespace take, or nodes for the empty one; empty if not known."""

    async def printed(self) -> tuple[Printed, ...]:
        """Return the text that commands printed about the cluster, beside objects and logs.

        Only a recording has such; the order is that of the names of its files.
        """


class Clusters(Protocol):
    """The clusters that can be looked at, by the name that alerts give them."""

    def named(self, cluster: str) -> Cluster:
        """Return one; an empty name is that of an alert which names none. May raise TocsinError."""

    def meant(self, cluster: str) -> Mapping[str, Cluster]:
        """Return those that an alert may be about, by name, at least one.

        They are the one that it names, those that it lists with commas, or all if it names none.
        One that is not known raises ClusterError at every question.
        """
