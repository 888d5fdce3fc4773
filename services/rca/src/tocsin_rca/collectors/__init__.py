"""From an alert to a case: every kind of evidence has one collector, all are asked at once."""

import asyncio
from collections.abc import Awaitable, Callable

from tocsin_agents.budget import Budget
from tocsin_contracts import Alert
from tocsin_rca.collectors import alerts, commits, events, logs, nodes, objects, pods, services
from tocsin_rca.collectors.inquiry import (
    FAILURES,
    Inquiry,
    MeteredCluster,
    MeteredHistory,
    Observations,
    reason,
    together,
)
from tocsin_rca.collectors.target import Target, find_target
from tocsin_rca.evidence import Case, number
from tocsin_rca.ports import World

Collector = Callable[[Target, Inquiry], Awaitable[Observations]]

BUILTIN: tuple[Collector, ...] = (
    objects.collect,
    pods.collect,
    events.collect,
    logs.collect,
    services.collect,
    nodes.collect,
    commits.collect,
)


async def collect(alert: Alert, world: World, budget: Budget) -> Case:
    """Return everything that could be seen within the budget, and what could not.

    Never raises because the world does not answer: each question without an answer is an
    observation of its own.
    """
    inquiry = Inquiry(
        cluster=MeteredCluster(world.cluster, budget),
        history=MeteredHistory(world.history, budget),
        clock=world.clock,
        budget=budget,
    )
    target, unseen = await _target(alert, inquiry)
    seen = await together(collector(target, inquiry) for collector in BUILTIN)
    observations = number((alerts.opening(alert, inquiry), *unseen, *seen))
    return Case(alert, target.named, target.workload, observations)


async def _target(alert: Alert, inquiry: Inquiry) -> tuple[Target, Observations]:
    query = f"what {alert.title!r} is about"
    try:
        async with asyncio.timeout(inquiry.budget.seconds_left):
            target = await find_target(alert, inquiry.cluster)
    except FAILURES as error:
        return Target(alert), (inquiry.missing(inquiry.cluster.source, query, reason(error)),)
    if target.named:
        return target, ()
    why = "the cluster knows nothing by that name" if alert.workload else "it names no workload"
    return target, (inquiry.missing(inquiry.cluster.source, query, why),)
