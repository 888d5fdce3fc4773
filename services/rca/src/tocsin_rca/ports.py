"""What rca asks of the world: the cluster, the history of the repositories and the time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Clusters
from tocsin_contracts import (
    Alert,
    FieldPath,
    Finding,
    ObjectRef,
    RelatedAlert,
    RunId,
    RunState,
    Scalar,
)


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the current time, aware."""


@dataclass(frozen=True, slots=True)
class ChangedField:
    """A scalar of one document before and after a commit; None where it did not exist.

    The namespace of the document is empty when the file does not say one. A value that a
    kustomization sets for an object is shown at the object's own field.
    """

    document: ObjectRef
    path: FieldPath
    before: Scalar
    after: Scalar


@dataclass(frozen=True, slots=True)
class FieldHistory:
    """What one commit changed about one object in one file."""

    commit: str
    author: str
    at: datetime
    subject: str
    file: str
    fields: tuple[ChangedField, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """An object as a file of a repository writes it, before any kustomization.

    A namespace that the file leaves out is the one that was asked for.
    """

    repository: str
    commit: str
    file: str
    manifest: Manifest


class History(Protocol):
    """The commits of the repositories that describe the cluster. May raise TocsinError."""

    @property
    def source(self) -> str:
        """Who answers, as evidence names it."""

    async def recent_changes(
        self, target: ObjectRef, *, cluster: str, limit: int
    ) -> tuple[FieldHistory, ...]:
        """Return what the last commits changed about an object of a cluster, the newest first.

        An empty cluster is one that the alert does not name.
        """

    async def declared(
        self, namespace: str, names: tuple[str, ...], *, cluster: str, limit: int
    ) -> tuple[Declared, ...]:
        """Return the objects that files declare in a namespace, those of the names first.

        Objects whose file names no namespace are among them, and those which are in none.
        """


class LateNews(Protocol):
    """The alerts that joined a run after it was opened."""

    async def add(self, run_id: RunId, news: RelatedAlert) -> None:
        """Keep one, once however often it is told."""

    async def of(self, run_id: RunId) -> tuple[RelatedAlert, ...]:
        """Return those of a run."""


class Recordings(Protocol):
    """What attempts were told, to be played again. May raise TocsinError."""

    async def keep(self, run_id: RunId, attempt: int, recording: bytes) -> None:
        """Keep what an attempt was told, in place of an older one."""


class Transcripts(Protocol):
    """What was said in attempts, to be played again. May raise TocsinError."""

    async def names(self, run_id: RunId, attempt: int) -> tuple[str, ...]:
        """Return the names of the entries of an attempt."""

    async def add(self, run_id: RunId, attempt: int, name: str, entry: bytes) -> None:
        """Keep an entry, in place of an older one of its name."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, looked at every `step`."""

    start: datetime
    end: datetime
    step: timedelta


@dataclass(frozen=True, slots=True)
class Sample:
    """A finite number that was measured."""

    at: datetime
    value: float


@dataclass(frozen=True, slots=True)
class Series:
    """What was measured of one thing, the oldest sample first; the labels say what thing."""

    labels: Mapping[str, str]
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """The answer to a query; warnings say why it may not be all of it."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = ()


class Metrics(Protocol):
    """A store of metrics that is asked in PromQL; only ever read. May raise TocsinError."""

    @property
    def source(self) -> str:
        """Who answers, as evidence names it."""

    async def over(self, query: str, window: Window) -> Measured:
        """Return the series of a query in a window."""

    def selects(self, cluster: str) -> Mapping[str, str]:
        """Return the labels that tell a cluster from others; none if it knows only one."""

    def link(self, query: str, window: Window) -> str:
        """Return where a person sees the same."""


@dataclass(frozen=True, slots=True)
class Runbook:
    """What people wrote down to do about an alert; `where` is its file or its address."""

    where: str
    text: str


class Runbooks(Protocol):
    """Somewhere that runbooks are kept. May raise TocsinError."""

    @property
    def source(self) -> str:
        """Who answers, as evidence names it."""

    async def about(self, alert: Alert) -> tuple[Runbook, ...]:
        """Return those about an alert, the best first; they are bounded."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """What came of an earlier run; empty and None is what it never came to.

    `same_incident` tells a run of the same incident from one that is only about the same workload.
    """

    run_id: RunId
    opened_at: datetime
    title: str
    same_incident: bool
    state: RunState
    finding: Finding | None = None
    pull_request: str = ""
    ending: str = ""


class Past(Protocol):
    """The earlier runs. May raise TocsinError."""

    @property
    def source(self) -> str:
        """Who answers, as evidence names it."""

    async def before(self, run_id: RunId, alert: Alert) -> tuple[PastRun, ...]:
        """Return the last runs about the same, the newest first; later runs find this one."""


@dataclass(frozen=True, slots=True)
class World:
    """Everything outside that an investigation looks at."""

    clusters: Clusters
    history: History
    clock: Clock
    metrics: Metrics | None = None
    runbooks: tuple[Runbooks, ...] = ()
    past: Past | None = None
