"""Looks around a change once, before the checks: everything at the same time."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from tocsin_cluster.clusters import UnseenCluster
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE, Cluster, Clusters
from tocsin_contracts import (
    Alert,
    AlertRepeated,
    AlertResolved,
    FailureCode,
    IncidentOpened,
    RunId,
    SourceKind,
)
from tocsin_gitops.config import Repository
from tocsin_gitops.policy import REGULAR_MODES
from tocsin_gitops.source import BlobFile, Commit
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import TocsinError
from tocsin_kit.run_view import Run
from tocsin_validation.facts import Incident, Known, Rendered, Rival, Rules, Surroundings
from tocsin_validation.outlook import schemas
from tocsin_validation.ports import Proposed, Source
from tocsin_validation.resolving.resolver import cluster_of
from tocsin_validation.surroundings import charting, questions, rendering, rivals
from tocsin_validation.surroundings.asked import asked
from tocsin_validation.surroundings.questions import Schemas

NEWEST = 5
_UNASKED: Known[tuple[Manifest, ...]] = Known()


class Freezes(Protocol):
    """Knows the change freezes that hold."""

    async def now(self, alert: Alert) -> str | None:
        """Return the freeze that holds for an alert, empty without one; None if nobody says."""


class Runs(Protocol):
    """Reads the records of runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""


@dataclass(frozen=True, slots=True)
class Means:
    """What is looked around with.

    Without `runs` no record is read; without `freezes` the freeze counts that held when the run
    began. Without `kubectl` no kustomization is built, without `helm` no chart. A question may take
    so many seconds; what has no answer by then is unknown.
    """

    runs: Runs | None = None
    freezes: Freezes | None = None
    clock: Clock = field(default_factory=SystemClock)
    rules: Rules = field(default_factory=Rules)
    kubectl: str = field(default_factory=rendering.found)
    helm: str = field(default_factory=charting.found)
    seconds: float = 10


@dataclass(frozen=True, slots=True)
class Pinned:
    """The repository of a change at its base commit, with its YAML files."""

    repository: Repository
    sha: str
    files: Mapping[str, BlobFile]

    @property
    def plain(self) -> dict[str, bytes]:
        """The contents of the plain files; links are left out."""
        return {path: f.data for path, f in self.files.items() if f.mode in REGULAR_MODES}


class Surveyor:
    """Asks the cluster, the repository, its host and the record of the run."""

    def __init__(self, source: Source, clusters: Clusters, means: Means) -> None:
        self._source = source
        self._clusters = clusters
        self._means = means

    async def look(self, run_id: RunId, change: Proposed, pinned: Pinned) -> Surroundings:
        """Return what is known; only the store of runs can make this fail."""
        cluster = self._cluster(change, pinned.repository)
        seen, lists, incident, facts = await asyncio.gather(
            self._object(cluster, change),
            self._lists(cluster, change),
            self._incident(run_id, change.alert),
            self._repository(change, pinned),
        )
        live, pods, schemas = seen
        later, competing, rendered = facts
        nodes = lists["Node"]
        return Surroundings(
            at=self._means.clock.now(),
            recorded=cluster.recorded_at is not None,
            version=_version(nodes.value or ()),
            live=live,
            pods=pods,
            quotas=lists.get("ResourceQuota", _UNASKED),
            budgets=lists.get("PodDisruptionBudget", _UNASKED),
            scalers=lists.get("HorizontalPodAutoscaler", _UNASKED),
            nodes=nodes,
            placed=lists.get("Pod", _UNASKED),
            schemas=schemas,
            later=later,
            competing=competing,
            rendered=rendered,
            incident=incident,
            rules=self._means.rules,
        )

    async def _object(
        self, cluster: Cluster, change: Proposed
    ) -> tuple[Known[Manifest], Known[tuple[Manifest, ...]], Known[Schemas]]:
        ref, seconds = questions.target_of(change), self._means.seconds
        return await asyncio.gather(
            asked(lambda: questions.live(cluster, ref), seconds),
            asked(lambda: questions.pods(cluster, ref), seconds),
            asked(lambda: questions.custom_schemas(cluster, change), seconds),
        )

    async def _repository(
        self, change: Proposed, pinned: Pinned
    ) -> tuple[Known[tuple[Commit, ...]], Known[tuple[Rival, ...]], Known[Rendered]]:
        seconds = self._means.seconds
        return await asyncio.gather(
            asked(lambda: self._later(change, pinned), seconds),
            asked(lambda: rivals.competing(self._source, change, pinned.repository), seconds),
            asked(lambda: self._rendered(change, pinned), seconds),
        )

    def _cluster(self, change: Proposed, repository: Repository) -> Cluster:
        try:
            return self._clusters.named(cluster_of(change.alert) or repository.cluster)
        except TocsinError as error:
            return UnseenCluster(str(error))

    async def _lists(
        self, cluster: Cluster, change: Proposed
    ) -> Mapping[str, Known[tuple[Manifest, ...]]]:
        changes, namespace = (
            change.hypothesis.finding.changes,
            questions.target_of(change).namespace,
        )
        wanted = {"Node": ""}
        if questions.asks_for_more(changes):
            wanted |= {"ResourceQuota": namespace, "Pod": EVERYWHERE}
            wanted |= dict.fromkeys(("PodDisruptionBudget", "HorizontalPodAutoscaler"), namespace)
        found = await asyncio.gather(
            *(
                asked(partial(questions.listed, cluster, kind, at), self._means.seconds)
                for kind, at in wanted.items()
            )
        )
        return dict(zip(wanted, found, strict=True))

    async def _rendered(self, change: Proposed, pinned: Pinned) -> Rendered:
        source = change.target.place
        if source and source.kind is SourceKind.HELM:
            space = questions.target_of(change).namespace
            return await charting.render(
                self._means.helm, source, space, pinned.plain, change.after
            )
        return await rendering.render(self._means.kubectl, pinned.plain, change.after)

    async def _later(self, change: Proposed, pinned: Pinned) -> tuple[Commit, ...]:
        files = dict.fromkeys(edit.file for edit in change.edits)
        found = [
            commit
            for file in files
            for commit in await self._source.commits(
                pinned.repository, pinned.sha, file, limit=NEWEST
            )
        ]
        return tuple(sorted(found, key=lambda commit: commit.at, reverse=True))

    async def _incident(self, run_id: RunId, alert: Alert) -> Known[Incident]:
        run = await self._means.runs.get(run_id) if self._means.runs else None
        if run is None:
            return Known(None, "there is no record of the run", FailureCode.NOT_FOUND)
        opened, cleared = run.fact(IncidentOpened), run.fact(AlertResolved)
        repeated = run.fact(AlertRepeated)
        back = cleared and repeated and repeated.at > cleared.at
        freeze = await self._means.freezes.now(alert) if self._means.freezes else None
        ended = cleared if cleared and not cleared.still_firing and not back else None
        return Known(
            Incident(
                freeze=(opened.freeze if opened else "") if freeze is None else freeze,
                environment=opened.environment if opened else "",
                cleared_at=ended.at if ended else None,
            ),
            "",
        )


def _version(nodes: tuple[Manifest, ...]) -> str:
    """Return the oldest version that nodes tell: what it takes, the whole cluster takes."""
    told = {str(one.dig("status", "nodeInfo", "kubeletVersion") or "") for one in nodes} - {""}
    return min(told, default="", key=schemas.number)
