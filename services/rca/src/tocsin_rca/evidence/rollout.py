"""One revision of a workload: when it began, and what it changed."""

from dataclasses import dataclass
from datetime import datetime

from tocsin_contracts import ObjectRef
from tocsin_rca.ports import ChangedField


@dataclass(frozen=True, slots=True)
class Rollout:
    """A pod template that a workload came to.

    `at` is None where the cluster does not tell, as for an older revision that was brought back.
    `changed` compares with the revision before, in fields of the workload; it is empty if that one
    is no longer kept. `latest` is the one that the workload is at, or on its way to.
    """

    workload: ObjectRef
    revision: int
    at: datetime | None
    brought_back: bool
    latest: bool
    changed: tuple[ChangedField, ...]
