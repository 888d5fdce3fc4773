"""The world of one investigation: as it is recorded, and as it is played again."""

from dataclasses import replace

from tocsin_cluster.clusters import OneCluster, UnseenCluster
from tocsin_cluster.port import Cluster
from tocsin_kit.errors import TocsinError
from tocsin_rca.ports import World
from tocsin_rca.recording.tape import Attempt, Player, Recorder, Recording, Tape, Told
from tocsin_rca.recording.taped import (
    TapedCluster,
    TapedHistory,
    TapedMetrics,
    TapedPast,
    TapedRunbooks,
)


class RecordedWorld:
    """A world in which an alert is about one cluster, and every answer is remembered."""

    def __init__(self, world: World, cluster: str) -> None:
        self._inner = world
        self._tape = Recorder()
        self._name = cluster
        self._cluster = _named(world, cluster)

    @property
    def world(self) -> World:
        """What is to be asked in place of the world itself."""
        return taped(self._inner, self._name, self._tape)

    def packed(self, attempt: Attempt) -> bytes:
        """Return what was answered until now, as bytes; PermanentError if it is too much."""
        return self.recording(attempt).model_dump_json().encode()

    def recording(self, attempt: Attempt) -> Recording:
        """Return what was answered until now, masked; it takes its time."""
        inner = self._inner
        return Recording(
            attempt=attempt,
            at=inner.clock.now(),
            cluster=Told(source=self._cluster.source, recorded_at=self._cluster.recorded_at),
            history=inner.history.source,
            metrics=inner.metrics.source if inner.metrics else "",
            label=dict(inner.metrics.selects(self._name)) if inner.metrics else {},
            runbooks=tuple(one.source for one in inner.runbooks),
            past=inner.past.source if inner.past else "",
            heard=self._tape.heard(),
        )


def taped(world: World, cluster: str, tape: Tape) -> World:
    """Return a world in which an alert is about one cluster, and a tape hears every answer."""
    metrics, past = world.metrics, world.past
    label = metrics.selects(cluster) if metrics else {}
    asked = _named(world, cluster)
    return replace(
        world,
        clusters=OneCluster(TapedCluster(tape, asked.source, asked)),
        history=TapedHistory(tape, world.history.source, world.history),
        metrics=TapedMetrics(tape, metrics.source, metrics, label) if metrics else None,
        runbooks=tuple(TapedRunbooks(tape, one.source, one) for one in world.runbooks),
        past=TapedPast(tape, past.source, past) if past else None,
    )


def played(recording: Recording) -> World:
    """Return the world of a recording, which answers as it did then."""
    tape, told = Player(recording), recording
    metrics = TapedMetrics(tape, told.metrics, None, told.label) if told.metrics else None
    return World(
        clusters=OneCluster(
            TapedCluster(tape, told.cluster.source, None, told.cluster.recorded_at)
        ),
        history=TapedHistory(tape, told.history, None),
        clock=tape,
        metrics=metrics,
        runbooks=tuple(TapedRunbooks(tape, source, None) for source in told.runbooks),
        past=TapedPast(tape, told.past, None) if told.past else None,
    )


def _named(world: World, cluster: str) -> Cluster:
    try:
        return world.clusters.named(cluster)
    except TocsinError as error:
        return UnseenCluster(str(error))
