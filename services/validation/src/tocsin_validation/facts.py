"""What is so around a change just now: asked once, before the checks, which only read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import FailureCode
from tocsin_gitops.source import Commit

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """An answer, or why there is none: what was not told is never taken for nothing."""

    value: T | None = None
    why: str = "nobody asked"
    code: FailureCode = FailureCode.NOT_FOUND


def told(value: T) -> Known[T]:
    """Return an answer."""
    return Known(value, "")


@dataclass(frozen=True, slots=True)
class Rendered:
    """What kustomize makes of the folders that deploy the changed files, by folder.

    Without a folder nothing is rendered. `fault` says why it fails after the change.
    """

    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Rival:
    """An open pull request of others on a file of the change.

    `same_field` is whether it changes a field that the change sets; None if that cannot be told.
    """

    url: str
    same_field: bool | None = None


@dataclass(frozen=True, slots=True)
class Incident:
    """What the record of the run says: a change freeze, and when its alerts cleared, if they did.

    The environment is as triage knows it, empty for none.
    """

    freeze: str = ""
    environment: str = ""
    cleared_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """What one CPU and one GiB of memory cost in an hour, in any one currency."""

    cpu_hour: float
    gib_hour: float
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the operator says about risk and cost; without prices no cost is told."""

    production: tuple[str, ...] = ("prod", "production", "prod-*", "*-prod", "live")
    prices: Prices | None = None

    def is_production(self, *names: str) -> bool:
        """Whether one of these namespaces or environments is where users are."""
        return any(fnmatchcase(n.casefold(), p.casefold()) for n in names for p in self.production)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The world around a change. Only what the change may depend on is asked for.

    `recorded` is whether the cluster is a recording, which cannot tell what is so now. `pods` are
    those of the object that changes, `placed` all that run on nodes. `schemas` are those of custom
    resources, by apiVersion and kind. `competing` are open pull requests of others on one of the
    files, `later` the commits on them, the newest first.
    """

    at: datetime | None = None
    recorded: bool = False
    version: str = ""
    live: Known[Manifest] = Known()
    pods: Known[tuple[Manifest, ...]] = Known()
    quotas: Known[tuple[Manifest, ...]] = Known()
    budgets: Known[tuple[Manifest, ...]] = Known()
    scalers: Known[tuple[Manifest, ...]] = Known()
    nodes: Known[tuple[Manifest, ...]] = Known()
    placed: Known[tuple[Manifest, ...]] = Known()
    schemas: Known[Mapping[tuple[str, str], Mapping[str, Any]]] = Known()
    later: Known[tuple[Commit, ...]] = Known()
    competing: Known[tuple[Rival, ...]] = Known()
    rendered: Known[Rendered] = Known()
    incident: Known[Incident] = Known()
    rules: Rules = Rules()
