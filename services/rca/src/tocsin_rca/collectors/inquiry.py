"""How a collector asks: inside the budget, and so that a question without an answer is seen."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from tocsin_agents.budget import Budget, BudgetSpent
from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Cluster, Usage
from tocsin_cluster.printed import Printed
from tocsin_contracts import EvidenceKind, ObjectRef, Period, RunId
from tocsin_kit.errors import TocsinError
from tocsin_rca.evidence import Observation, observe
from tocsin_rca.ports import Clock, Declared, FieldHistory, History, Metrics, Past, Runbooks

T = TypeVar("T")
Observations = tuple[Observation[object], ...]
FAILURES = (TocsinError, BudgetSpent, TimeoutError)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One investigation's way to ask the world."""

    cluster: Cluster
    history: History
    clock: Clock
    budget: Budget
    metrics: Metrics | None = None
    runbooks: tuple[Runbooks, ...] = ()
    past: Past | None = None
    run_id: RunId | None = None

    async def ask(self, source: str, query: str, answer: Awaitable[Observations]) -> Observations:
        """Return the answer, or one observation that says why there is none."""
        try:
            async with asyncio.timeout(self.budget.seconds_left):
                return await answer
        except FAILURES as error:
            return (self.missing(source, query, reason(error)),)

    def saw(
        self,
        kind: EvidenceKind,
        query: str,
        text: str,
        data: T,
        *,
        source: str = "",
        ref: str = "",
        window: Period | None = None,
    ) -> Observation[T]:
        """Return an observation; the cluster is the source unless another is named.

        `ref` says where all of it is, unless it is an object. It is made now, except that a
        recorded cluster shows what it was when it was recorded.
        """
        at = (None if source else self.cluster.recorded_at) or self.clock.now()
        source = source or self.cluster.source
        return observe(
            kind,
            source=source,
            query=query,
            at=at,
            text=text,
            data=data,
            ref=ref,
            window=window,
        )

    def missing(self, source: str, query: str, reason: str) -> Observation[object]:
        """Return the observation that a question got no answer."""
        return self.saw(EvidenceKind.MISSING, query, reason, None, source=source)


async def together(questions: Iterable[Awaitable[Observations]]) -> Observations:
    """Ask all at once; the answers keep the order of the questions."""
    answers = await asyncio.gather(*questions)
    return tuple(observation for answer in answers for observation in answer)


class MeteredCluster:
    """A cluster where every question is paid for first."""

    def __init__(self, cluster: Cluster, budget: Budget) -> None:
        self._cluster = cluster
        self._budget = budget

    @property
    def source(self) -> str:
        """Who answers."""
        return self._cluster.source

    @property
    def recorded_at(self) -> datetime | None:
        """When what it answers was true."""
        return self._cluster.recorded_at

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Pay, then ask for one object."""
        self._budget.spend()
        return await self._cluster.get(ref)

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Pay, then ask for the objects of a kind."""
        self._budget.spend()
        return await self._cluster.list(kind, namespace, labels)

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Pay, then ask for what was reported."""
        self._budget.spend()
        return await self._cluster.events(ref)

    async def events_in(self, namespace: str) -> tuple[ClusterEvent, ...]:
        """Pay, then ask for what was reported in a namespace."""
        self._budget.spend()
        return await self._cluster.events_in(namespace)

    async def usage(self, namespace: str) -> tuple[Usage, ...]:
        """Pay, then ask for what is used."""
        self._budget.spend()
        return await self._cluster.usage(namespace)

    async def printed(self) -> tuple[Printed, ...]:
        """Pay, then ask for what commands printed."""
        self._budget.spend()
        return await self._cluster.printed()

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Pay, then ask for a log."""
        self._budget.spend()
        return await self._cluster.logs(namespace, pod, container, previous=previous)


class MeteredHistory:
    """A history where every question is paid for first."""

    def __init__(self, history: History, budget: Budget) -> None:
        self._history = history
        self._budget = budget

    @property
    def source(self) -> str:
        """Who answers."""
        return self._history.source

    async def recent_changes(
        self, target: ObjectRef, *, cluster: str, limit: int
    ) -> tuple[FieldHistory, ...]:
        """Pay, then ask what commits changed."""
        self._budget.spend()
        return await self._history.recent_changes(target, cluster=cluster, limit=limit)

    async def declared(
        self, namespace: str, names: tuple[str, ...], *, cluster: str, limit: int
    ) -> tuple[Declared, ...]:
        """Pay, then ask what files declare."""
        self._budget.spend()
        return await self._history.declared(namespace, names, cluster=cluster, limit=limit)


def reason(error: Exception) -> str:
    """Return why a question got no answer."""
    return str(error) or "no answer before the time of the investigation was over"
