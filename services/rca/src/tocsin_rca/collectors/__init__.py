"""From an alert to a case: every kind of evidence has one collector, all are asked at once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import UnseenCluster
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Cluster
from tocsin_contracts import Alert, EvidenceKind, ObjectRef, RunId
from tocsin_kit.errors import TocsinError
from tocsin_rca.collectors import (
    alerts,
    around,
    commits,
    components,
    declared,
    events,
    logs,
    metrics,
    nodes,
    objects,
    outputs,
    past,
    pods,
    rollouts,
    runbooks,
    services,
    usage,
)
from tocsin_rca.collectors.inquiry import (
    FAILURES,
    Inquiry,
    MeteredCluster,
    MeteredHistory,
    Observations,
    reason,
    together,
)
from tocsin_rca.collectors.target import Target, cluster_of, find_target
from tocsin_rca.evidence import Case, Observation, Unseen, number
from tocsin_rca.ports import Declared, World

Collector = Callable[[Target, Inquiry], Awaitable[Observations]]

BUILTIN: tuple[Collector, ...] = (
    objects.collect,
    pods.collect,
    events.collect,
    logs.collect,
    services.collect,
    nodes.collect,
    commits.collect,
    rollouts.collect,
    metrics.collect,
    runbooks.collect,
    past.collect,
    declared.collect,
    outputs.collect,
    usage.collect,
    events.near,
    around.collect,
    components.collect,
)


async def collect(alert: Alert, world: World, budget: Budget, run_id: RunId | None = None) -> Case:
    """Return everything that could be seen within the budget, and what could not.

    Never raises because the world does not answer: each question without an answer is an
    observation of its own.
    """
    inquiry = Inquiry(
        cluster=MeteredCluster(_cluster(alert, world), budget),
        history=MeteredHistory(world.history, budget),
        clock=world.clock,
        budget=budget,
        metrics=world.metrics,
        runbooks=world.runbooks,
        past=world.past,
        run_id=run_id,
    )
    files, unread = await declared.look(alert, inquiry)
    target, unseen = await _target(alert, inquiry, files)
    seen = await together(collector(target, inquiry) for collector in BUILTIN)
    every = (alerts.opening(alert, inquiry), *unread, *unseen, *_once(seen))
    return Case(alert, target.named, target.workload, number(every))


def _cluster(alert: Alert, world: World) -> Cluster:
    try:
        return world.clusters.named(cluster_of(alert))
    except TocsinError as error:
        return UnseenCluster(str(error))


async def _target(
    alert: Alert, inquiry: Inquiry, files: tuple[Declared, ...]
) -> tuple[Target, Observations]:
    query = f"what {alert.title!r} is about"
    try:
        async with asyncio.timeout(inquiry.budget.seconds_left):
            target = await find_target(alert, inquiry.cluster, files)
    except FAILURES as error:
        why, source = reason(error), inquiry.cluster.source
        unseen = inquiry.saw(EvidenceKind.MISSING, query, why, Unseen(why), source=source)
        return Target(alert, declared=files), (unseen,)
    if target.named:
        return target, ()
    why = "the cluster knows nothing by that name" if alert.workload else "it names no workload"
    return target, (inquiry.missing(inquiry.cluster.source, query, why),)


def _once(seen: Observations) -> Iterator[Observation[object]]:
    """Yield every observation but those of an object that was seen before."""
    known: set[ObjectRef] = set()
    for one in seen:
        ref = one.data.ref if isinstance(one.data, Manifest) else None
        if ref is None or ref not in known:
            yield one
        if ref:
            known.add(ref)
