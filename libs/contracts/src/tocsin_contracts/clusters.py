"""Which clusters a question may be about, and what was known of each when somebody last looked."""

from datetime import datetime
from enum import StrEnum

from tocsin_contracts.base import Value


class ClusterCap(StrEnum):
    """What a cluster can be asked for."""

    OBJECTS = "objects"
    EVENTS = "events"
    LOGS = "logs"


class KnownCluster(Value):
    """One cluster. What was not reached has a reason in `away`, and is not known to be healthy.

    `looked_at` is when what it says was true, None for one that was never reached. An unknown
    version is empty. `instructions` are what the operator tells a model about this cluster.
    """

    name: str
    version: str = ""
    caps: tuple[ClusterCap, ...] = ()
    looked_at: datetime | None = None
    away: str = ""
    instructions: str = ""

    @property
    def reachable(self) -> bool:
        """Whether it answered when somebody last looked."""
        return not self.away


class ClusterContext(Value):
    """The clusters of one conversation or run: none, one, or many."""

    clusters: tuple[KnownCluster, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called, in the order of the configuration."""
        return tuple(cluster.name for cluster in self.clusters)

    @property
    def is_multi(self) -> bool:
        """Whether an answer must say which cluster it is about."""
        return len(self.clusters) > 1
