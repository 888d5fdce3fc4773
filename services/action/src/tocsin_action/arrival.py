"""Whether a merged fix has reached the cluster, as its GitOps controller tells; pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Standing(StrEnum):
    """Where a merged commit stands: `unhealthy` is in the cluster, and not well there (yet)."""

    SYNCED = "synced"
    UNHEALTHY = "unhealthy"
    SYNCING = "syncing"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a controller says of a commit; `by` is empty where there is none to ask.

    The words are the controller's own, on one line. `synced_at` is None where it tells no time.
    """

    standing: Standing
    by: str = ""
    words: str = ""
    revision: str = ""
    synced_at: datetime | None = None


UNTOLD = Arrival(Standing.UNKNOWN)
"""Nobody can be asked."""
