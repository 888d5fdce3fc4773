"""Whom an investigation asks, every question over a tape; while that is played, nobody is there."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Cluster, Usage
from tocsin_cluster.printed import Printed
from tocsin_contracts import Alert, ObjectRef, RunId
from tocsin_kit.errors import PermanentError
from tocsin_rca.ports import (
    Declared,
    FieldHistory,
    History,
    Measured,
    Metrics,
    Past,
    PastRun,
    Runbook,
    Runbooks,
    Window,
)
from tocsin_rca.recording.tape import Tape

A = TypeVar("A")
T = TypeVar("T")

_OBJECT = TypeAdapter[Manifest | None](Manifest | None)
_OBJECTS = TypeAdapter(tuple[Manifest, ...])
_EVENTS = TypeAdapter(tuple[ClusterEvent, ...])
_USAGE = TypeAdapter(tuple[Usage, ...])
_PRINTED = TypeAdapter(tuple[Printed, ...])
_LOG = TypeAdapter[str | None](str | None)
_CHANGES = TypeAdapter(tuple[FieldHistory, ...])
_DECLARED = TypeAdapter(tuple[Declared, ...])
_MEASURED = TypeAdapter(Measured)
_RUNBOOKS = TypeAdapter(tuple[Runbook, ...])
_PAST = TypeAdapter(tuple[PastRun, ...])


class _Taped(Generic[A]):
    """One that is asked, or that was asked once."""

    def __init__(self, tape: Tape, source: str, asked: A | None) -> None:
        self._tape = tape
        self._source = source
        self._asked = asked

    @property
    def source(self) -> str:
        """Who answers."""
        return self._source

    async def _answer(
        self, question: str, kind: TypeAdapter[T], ask: Callable[[A], Awaitable[T]]
    ) -> T:
        async def now() -> T:
            if self._asked is None:
                raise PermanentError(f"{self._source} is only a recording")
            return await ask(self._asked)

        return await self._tape.answer(f"{self._source}: {question}", kind, now)


class TapedCluster(_Taped[Cluster]):
    """A cluster."""

    def __init__(
        self, tape: Tape, source: str, asked: Cluster | None, recorded_at: datetime | None = None
    ) -> None:
        super().__init__(tape, source, asked)
        self._recorded_at = recorded_at

    @property
    def recorded_at(self) -> datetime | None:
        """When what it answers was true."""
        return self._asked.recorded_at if self._asked else self._recorded_at

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one object."""
        return await self._answer(f"get {ref}", _OBJECT, lambda c: c.get(ref))

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind."""
        chosen = ",".join(f"{name}={text}" for name, text in sorted((labels or {}).items()))
        question = f"list {kind} {namespace} {chosen}"
        return await self._answer(question, _OBJECTS, lambda c: c.list(kind, namespace, labels))

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Return what was reported about an object."""
        return await self._answer(f"events of {ref}", _EVENTS, lambda c: c.events(ref))

    async def events_in(self, namespace: str) -> tuple[ClusterEvent, ...]:
        """Return what was reported in a namespace."""
        question = f"events in {namespace}"
        return await self._answer(question, _EVENTS, lambda c: c.events_in(namespace))

    async def usage(self, namespace: str) -> tuple[Usage, ...]:
        """Return what is used."""
        return await self._answer(f"usage {namespace}", _USAGE, lambda c: c.usage(namespace))

    async def printed(self) -> tuple[Printed, ...]:
        """Return what commands printed."""
        return await self._answer("printed", _PRINTED, lambda c: c.printed())

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Return a log."""
        question = f"logs {namespace} {pod} {container} {previous}"
        return await self._answer(
            question, _LOG, lambda c: c.logs(namespace, pod, container, previous=previous)
        )


class TapedHistory(_Taped[History]):
    """The commits of the repositories."""

    async def recent_changes(
        self, target: ObjectRef, *, cluster: str, limit: int
    ) -> tuple[FieldHistory, ...]:
        """Return what commits changed."""
        return await self._answer(
            f"changes of {target}",
            _CHANGES,
            lambda history: history.recent_changes(target, cluster=cluster, limit=limit),
        )

    async def declared(
        self, namespace: str, names: tuple[str, ...], *, cluster: str, limit: int
    ) -> tuple[Declared, ...]:
        """Return what files declare."""
        return await self._answer(
            f"declared in {namespace} near {' '.join(names)}",
            _DECLARED,
            lambda history: history.declared(namespace, names, cluster=cluster, limit=limit),
        )


class TapedMetrics(_Taped[Metrics]):
    """A store of metrics; a recording has no graphs to look at."""

    def __init__(
        self, tape: Tape, source: str, asked: Metrics | None, label: Mapping[str, str]
    ) -> None:
        super().__init__(tape, source, asked)
        self._label = label

    async def over(self, query: str, window: Window) -> Measured:
        """Return series."""
        question = f"{query} every {window.step}"
        return await self._answer(question, _MEASURED, lambda m: m.over(query, window))

    def selects(self, cluster: str) -> Mapping[str, str]:
        """Return the labels that tell the cluster from others."""
        return self._asked.selects(cluster) if self._asked else self._label

    def link(self, query: str, window: Window) -> str:
        """Return a page of it."""
        return self._asked.link(query, window) if self._asked else ""


class TapedRunbooks(_Taped[Runbooks]):
    """A place of runbooks."""

    async def about(self, alert: Alert) -> tuple[Runbook, ...]:
        """Return those about an alert."""
        return await self._answer("runbooks", _RUNBOOKS, lambda r: r.about(alert))


class TapedPast(_Taped[Past]):
    """The earlier runs."""

    async def before(self, run_id: RunId, alert: Alert) -> tuple[PastRun, ...]:
        """Return those about the same."""
        return await self._answer("earlier runs", _PAST, lambda p: p.before(run_id, alert))
