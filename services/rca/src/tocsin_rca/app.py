"""Composition root: the only file that knows every part of rca."""

import time
from collections.abc import Sequence

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import NamedClusters, OneCluster, RecordedClusters
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import (
    AlertRepeated,
    HypothesisRejected,
    IncidentOpened,
    RunState,
    RunSuperseded,
)
from tocsin_gitops import config
from tocsin_gitops.source import LocalGitSource
from tocsin_kit.clock import SystemClock
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.late_news import LateNews
from tocsin_kit.moves import move
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service
from tocsin_mcp.servers import Servers
from tocsin_rca import analyzers, graph
from tocsin_rca.collectors.history import GitHistory
from tocsin_rca.handlers import Handlers, Listeners
from tocsin_rca.nodes import Nodes
from tocsin_rca.ports import Clusters, Metrics, World
from tocsin_rca.settings import Settings
from tocsin_rca.sources.prometheus import Access, Prometheus
from tocsin_rca.state import RcaState
from tocsin_rca.tools import outside


def build(flags: Sequence[str] = ()) -> Service:
    """Wire rca from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=True)
    servers = outside.servers(settings)

    def budget() -> Budget:
        calls, seconds = settings.investigation_calls, settings.investigation_seconds
        return Budget(calls, seconds, time.monotonic)

    news = LateNews(parts.redis)
    nodes = Nodes(world(settings, servers), analyzers.load(), budget, news)
    asking: Subgraph[RcaState] = Subgraph("rca", graph.build(nodes), saver(parts.raw_redis))

    handlers = Handlers(asking, settings.max_rca_attempts)
    investigating = RunState.INVESTIGATING
    parts.bus.on(
        IncidentOpened,
        handlers.on_incident_opened,
        move(RunState.RECEIVED, during=investigating),
    )
    parts.bus.on(HypothesisRejected, handlers.on_hypothesis_rejected, move(investigating))
    listeners = Listeners(news)
    parts.bus.watch(AlertRepeated, listeners.on_alert_repeated)
    parts.bus.watch(RunSuperseded, listeners.on_run_superseded)
    return Service(
        settings=settings,
        port=settings.rca_port,
        parts=parts,
        resources=[servers],
        notice=lambda: outside.notice(servers),
    )


def world(settings: Settings, servers: Servers) -> World:
    """Return what is looked at."""
    return World(
        clusters=_clusters(settings, servers),
        history=GitHistory(LocalGitSource(), config.load(settings.gitops_file)),
        clock=SystemClock(),
        metrics=_metrics(settings),
    )


def _clusters(settings: Settings, servers: Servers) -> Clusters:
    folder = settings.cluster_snapshots
    recorded = RecordedClusters(folder) if folder is not None else None
    if settings.cluster_servers:
        return NamedClusters(outside.clusters(settings, servers), recorded)
    return recorded or OneCluster(SnapshotCluster(settings.cluster_snapshot))


def _metrics(settings: Settings) -> Metrics | None:
    if not settings.prometheus_url:
        return None
    return Prometheus(
        Access(
            settings.prometheus_url,
            user=settings.prometheus_user,
            secret=settings.prometheus_token,
            ca=settings.prometheus_ca,
            cluster_label=settings.prometheus_cluster_label,
        )
    )
